import { describe, expect, it } from 'vitest';
import { findLackedFeatures } from '#services/gpu-worker/engine-routes.ts';
import { selectEngine } from '#services/gpu-worker/find-engine.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { createFeatureKey } from '#shared/formats/request-feature.ts';
import { findRefusedFeatures } from '#shared/translate/translation.ts';
import { conversationTranslations, translations } from '#shared/translate/translations.ts';
import { readRequestRules } from './field-rules.ts';

/**
 * The rules that refuse a field, each with the feature that stands for the field. A rule has no feature if no choice of a worker would
 * help.
 */
const refusedFields: Record<string, Record<string, string | undefined>> = {
  chat: {
    'messages[].content[] file, by id': 'file_ids',
    'messages[].content[] input_audio': 'audio_input',
    'messages[].content[] of other types': 'other_content',
    'messages[].tool_calls[] of other types': 'other_tool_calls',
    'messages[].function_call': 'older_tool_calls',
    'tools[] of other types': 'other_tools',
    'modalities, audio': 'audio_output',
    audio: 'audio_output',
    logprobs: 'logprobs',
    top_logprobs: 'logprobs',
    functions: 'older_tools',
    function_call: 'older_tools',
    web_search_options: 'web_search_options',
    stop: 'stop_sequences',
    'n above 1': 'several_choices',
    'response_format of other types': 'other_formats',
    // Fields of another format.
    "* that names what the provider's account has stored": undefined,
  },
  messages: {
    'messages[].content[] image, by file id': 'file_ids',
    'messages[].content[] document, PDF': 'pdf',
    'messages[].content[] document, by URL': 'document_urls',
    'messages[].content[] of other types': 'other_content',
    'max_tokens of 0': 'cache_warming',
    'tools[] run by the upstream': 'upstream_tools',
    compaction: 'compaction',
    mcp_servers: 'mcp_servers',
    container: 'container',
    stop_sequences: 'stop_sequences',
    // Refused on every upstream.
    thread: undefined,
    // Fields of another format.
    "* that names what the provider's account has stored": undefined,
  },
  responses: {
    'input[].content[] input_image, by id': 'file_ids',
    'input[].content[] input_file, by id': 'file_ids',
    'input[].content[] input_file, by URL': 'file_urls',
    'input[].content[] of other types': 'other_content',
    'input[] of other types': 'other_items',
    'tools[] of other types': 'upstream_tools',
    'include message.output_text.logprobs': 'logprobs',
    top_logprobs: 'logprobs',
    prompt: 'prompts',
    // Refused on every upstream.
    conversation: undefined,
    // Separate needs, because the router may run these tools.
    'tools[] web_search alone': undefined,
    'tools[] mcp': undefined,
  },
};

const withFeatures = clientFormats.filter(({ features }) => features !== undefined);

function needsOf(format: ClientFormat, example: object): readonly string[] | undefined {
  const [route] = format.routes;
  const body = Buffer.from(JSON.stringify({ model: 'auto', max_tokens: 1, ...example }));
  return format.read(body, route?.operation ?? 'generate').parameters.needs.features;
}

describe.each(withFeatures.map((format) => [format.name, format] as const))('a %s request', (name, format) => {
  const features = format.features?.features ?? [];

  it.each(features.map((feature) => [feature.name, feature.example] as const))(
    'with %s has the need for that feature',
    (feature, example) => {
      expect(needsOf(format, example)).toContain(feature);
    },
  );

  it('with text alone needs no feature', () => {
    const plain = name === 'responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] };
    expect(needsOf(format, plain)).toBeUndefined();
  });

  const toOthers = translations.filter(({ client }) => client === format);
  it.each(toOthers.map((each) => [each.upstream.name, each] as const))(
    'has a feature for everything that its rules for a %s upstream refuse',
    (_, translation) => {
      const lacked = findRefusedFeatures([translation], { model: 'm' });
      const refused = readRequestRules(name, translation.upstream.name).filter(
        ({ effect }) => effect.kind === 'refused',
      );
      const known = refusedFields[name] ?? {};
      expect(refused.map(({ field }) => field).filter((field) => !Object.hasOwn(known, field))).toEqual([]);
      const named = refused.flatMap(({ field }) => known[field] ?? []);
      for (const feature of named) expect(lacked).toContain(createFeatureKey(feature, name));
    },
  );
});

describe('the features that a worker announces to lack', () => {
  it('are those that the conversations of a command-line agent refuse', () => {
    expect(findRefusedFeatures(conversationTranslations, { model: 'm' })).toEqual(
      expect.arrayContaining([
        ...['documents', 'audio_input', 'logprobs', 'prefill', 'several_choices'].map((name) => `${name}@chat`),
        ...['documents', 'pdf', 'search_results', 'mcp_servers'].map((name) => `${name}@messages`),
        'container@messages',
        'prefill@messages',
        ...['documents', 'logprobs', 'prefill'].map((name) => `${name}@responses`),
      ]),
    );
  });

  it('do not include custom tools of the chat format, whatever the upstream', () => {
    const ofChat = translations.filter(({ client }) => client.name === 'chat');
    expect(findRefusedFeatures(ofChat, { model: 'm' }).filter((feature) => feature.startsWith('custom'))).toEqual([]);
  });

  it("are none if the upstream has the client's format", () => {
    const same = translations.filter(({ client, upstream }) => client.name === upstream.name);
    expect(findRefusedFeatures(same, { model: 'm', takesPrompts: true })).toEqual([]);
  });

  it('include several choices if the upstream returns one', () => {
    const same = translations.filter(({ client, upstream }) => client.name === 'chat' && upstream.name === 'chat');
    expect(findRefusedFeatures(same, { model: 'm', makesOneChoice: true })).toEqual(['several_choices@chat']);
    for (const engine of ['ollama', 'lm-studio'] as const)
      expect(findLackedFeatures(selectEngine(engine), same)).toEqual(['several_choices@chat']);
    for (const engine of ['vllm', 'sglang', 'llama-cpp', 'openai'] as const)
      expect(findLackedFeatures(selectEngine(engine), same)).toEqual([]);
  });

  it('do not include PDFs if the upstream takes files', () => {
    const all = translations.filter(({ client, upstream }) => client.name === 'messages' && upstream.name === 'chat');
    expect(findRefusedFeatures(all, { model: 'm' })).toContain('pdf@messages');
    expect(findRefusedFeatures(all, { model: 'm', takesFiles: true })).not.toContain('pdf@messages');
  });
});
