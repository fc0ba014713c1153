import type { Capability } from '#shared/broker/contract/announcement.ts';
import { mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { describeModel, type Engine, modelList } from './engine.ts';
import { guessOperations } from '#shared/core/operation.ts';

/**
 * Any other engine with OpenAI's formats. The worker has only the engine's list of models, so it sends requests as the client wrote them.
 * It guesses the operations of models from their names. It assumes that models have all capabilities except vision, which the list must
 * report as image input.
 */
export const openai: Engine = {
  kind: 'openai',
  healthPath: '/v1/models',

  async discover(http) {
    const { data } = await http.getJson('/v1/models', modelList);
    return {
      models: data.map(({ id, architecture, max_model_len: contextWindow }) => {
        const vision: Capability[] = architecture?.input_modalities?.includes('image') ? ['vision'] : [];
        const capabilities: Capability[] = ['stream', 'tools', ...vision, 'thinking', 'json'];
        return describeModel(id, guessOperations(id), capabilities, contextWindow);
      }),
    };
  },

  adapt(request) {
    return mapMessages(request, (message) => renameThinking(message, ['reasoning_content']));
  },
};
