import type { Capability } from '#shared/broker/contract/announcement.ts';
import { mapMessages } from '#shared/upstream/requests/map-messages.ts';
import { replayThinking } from '#shared/upstream/requests/replay-thinking.ts';
import type { Engine } from './engine.ts';
import { modelList } from './model-list.ts';

/**
 * Anything else that speaks the chat format. Nothing is known of it but its list of models, so a request goes to it as
 * the client wrote it. Its models are taken to do everything but see, unless the list says that they do.
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
