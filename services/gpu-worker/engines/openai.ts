import type { Capability } from '#shared/broker/contract/announcement.ts';
import { mapMessages, replayThinking } from '#shared/upstream/chat-messages.ts';
import type { Engine } from './engine.ts';
import { modelList } from './model-list.ts';

/**
 * Any other engine of the chat format. Only its list of models is known, so requests go to it as the client wrote them. Its
 * models are assumed to have all capabilities but vision, unless the list says that they see images.
 */
export const openai: Engine = {
  kind: 'openai',
  healthPath: '/v1/models',

  async discover(http) {
    const { data } = await http.ask('/v1/models', modelList);
    return {
      models: data.map(({ id, architecture, max_model_len: contextWindow }) => {
        const vision: Capability[] = architecture?.input_modalities?.includes('image') ? ['vision'] : [];
        return { id, capabilities: ['stream', 'tools', ...vision, 'thinking', 'json'], contextWindow };
      }),
    };
  },

  adapt(request) {
    return mapMessages(request, (message) => replayThinking(message, ['reasoning_content']));
  },
};
