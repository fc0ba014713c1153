import { z } from 'zod';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import { fit } from '#shared/upstream/upstream-http.ts';
import { developerAsSystem } from '#shared/upstream/requests/developer-as-system.ts';
import { mapMessages } from '#shared/upstream/requests/map-messages.ts';
import { replayThinking } from '#shared/upstream/requests/replay-thinking.ts';
import { requireNamedTool } from '../requests/require-named-tool.ts';
import { sameMaxTokens } from '#shared/upstream/requests/same-max-tokens.ts';
import { takeThinkingRequest } from '../requests/take-thinking-request.ts';
import { templateThinking } from '../requests/template-thinking.ts';
import type { Engine } from './engine.ts';
import { modelList } from './model-list.ts';

const positive = z.number().int().positive().optional().catch(undefined);

/** `GET /props` of llama-server. */
const props = z.looseObject({
  total_slots: positive,
  /** Tokens of one slot, not of all together. */
  default_generation_settings: z.looseObject({ n_ctx: positive }).optional().catch(undefined),
  modalities: z.looseObject({ vision: z.boolean() }).optional().catch(undefined),
  chat_template: z.string().optional().catch(undefined),
  chat_template_caps: z
    .looseObject({ supports_tools: z.boolean().optional(), supports_preserve_reasoning: z.boolean().optional() })
    .optional()
    .catch(undefined),
});

const counted = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/** llama.cpp's llama-server. It serves one model under any name. */
export const llamaCpp: Engine = {
  kind: 'llama-cpp',
  healthPath: '/health',

  async discover(http) {
    const [{ data }, facts] = await Promise.all([http.ask('/v1/models', modelList), http.ask('/props', props)]);
    const capabilities: Capability[] = ['stream', 'json'];
    if (facts.chat_template_caps?.supports_tools !== false) capabilities.push('tools');
    if (facts.modalities?.vision === true) capabilities.push('vision');
    if (thinks(facts)) capabilities.push('thinking');
    const contextWindow = facts.default_generation_settings?.n_ctx;
    return { models: data.map(({ id }) => ({ id, capabilities, contextWindow })), slots: facts.total_slots };
  },

  adapt(request) {
    const { rest, wish } = takeThinkingRequest(request);
    const adapted = mapMessages(requireNamedTool(sameMaxTokens(rest)), (message) =>
      replayThinking(developerAsSystem(message), ['reasoning_content']),
    );
    if (wish === undefined) return adapted;
    return {
      ...templateThinking(adapted, wish.on),
      ...(wish.effort !== undefined && { reasoning_effort: wish.effort }),
      ...(wish.budget !== undefined && { thinking_budget_tokens: wish.budget }),
    };
  },

  async countTokens(http, request, signal) {
    const path = '/v1/chat/completions/input_tokens';
    return fit(path, await http.post(path, JSON.stringify(request), signal), counted).input_tokens;
  },
};

/** Newer versions tell it; for older ones, a template that knows of thinking names it. */
function thinks({ chat_template: template = '', chat_template_caps: caps }: z.output<typeof props>): boolean {
  return caps?.supports_preserve_reasoning ?? /enable_thinking|reasoning|<think>/.test(template);
}
