import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from '../engine-http.ts';
import { continueLastMessage } from '../requests/continue-last-message.ts';
import { developerAsSystem } from '#shared/upstream/requests/developer-as-system.ts';
import { mapMessages } from '#shared/upstream/requests/map-messages.ts';
import { replayThinking } from '#shared/upstream/requests/replay-thinking.ts';
import { takeThinkingRequest } from '../requests/take-thinking-request.ts';
import { templateThinking } from '../requests/template-thinking.ts';
import { countByTokenizing } from './count-by-tokenizing.ts';
import type { Engine } from './engine.ts';
import { modelList } from './model-list.ts';

/**
 * vLLM, and the demo engine, which behaves like it. It tells neither its slots nor whether a model sees images: the
 * latter is found out by counting the tokens of an image, which costs no inference and fails on a text model.
 */
export const vllm: Engine = {
  kind: 'vllm',
  healthPath: '/health',

  async discover(http, before) {
    const { data } = await http.ask('/v1/models', modelList);
    const models = await Promise.all(
      data.map(async ({ id, max_model_len: contextWindow }): Promise<ModelInfo> => {
        const known = before.find((model) => model.id === id && model.contextWindow === contextWindow);
        if (known) return known;
        const vision: Capability[] = (await seesImages(http, id)) ? ['vision'] : [];
        return { id, capabilities: ['stream', 'tools', ...vision, 'thinking', 'json'], contextWindow };
      }),
    );
    return { models };
  },

  adapt(request, model) {
    const { rest, wish } = takeThinkingRequest(request);
    let adapted = mapMessages(rest, (message) =>
      replayThinking(developerAsSystem(message), ['reasoning', 'reasoning_content']),
    );
    adapted = continueLastMessage(withoutUnusable(adapted));
    if (wish === undefined) return adapted;
    if (wish.effort !== undefined) adapted = { ...adapted, reasoning_effort: wish.effort };
    return takesTemplateSettings(model.id) ? templateThinking(adapted, wish.on) : adapted;
  },

  countTokens: countByTokenizing,
};

/** vLLM refuses what has no meaning: options of a stream without a stream, a choice of tools without tools. */
function withoutUnusable(request: JsonObject): JsonObject {
  const { stream_options: options, tools, tool_choice: choice, ...rest } = request;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  return {
    ...rest,
    ...(rest.stream === true && options !== undefined && { stream_options: options }),
    ...(hasTools && { tools }),
    ...(hasTools && choice !== undefined && { tool_choice: choice }),
  };
}

/** Mistral's models bring their own tokenizer instead of a template, and vLLM then refuses settings of a template. */
function takesTemplateSettings(model: string): boolean {
  return !/mistral|magistral|ministral|devstral|codestral|pixtral|mixtral/i.test(model);
}

/** One grey pixel as PNG. */
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

async function seesImages(http: EngineHttp, model: string): Promise<boolean> {
  const content = [{ type: 'image_url', image_url: { url: pixel } }];
  const { status } = await http.post('/tokenize', JSON.stringify({ model, messages: [{ role: 'user', content }] }));
  if (status >= 500) throw new UpstreamAnswerError(`the engine answered /tokenize with status ${status}`);
  return status === 200;
}
