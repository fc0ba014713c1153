import { beforeAll, describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { parseResponsesRequest } from '#shared/formats/responses/parse-responses-request.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { Cases, placeOf, valueOf } from '../../helpers/official-types/cases.ts';
import type { Change, Leaf, Place, Tree } from '../../helpers/official-types/cases.ts';
import { readSchemas, type BodySchema, type BodyType } from '../../helpers/official-types/schemas.ts';
import { lackedFields } from '../../helpers/official-types/lacked-fields.ts';
import { namedEvents } from '../../shared/translate/assemble-message.ts';
import { readAnswerRules, readRequestRules, type FieldRule } from '../../shared/translate/field-rules.ts';
import { runStream } from '../../shared/translate/run-stream.ts';
import { translationBetween } from '../../shared/translate/translation-between.ts';
import { upstreamStreams } from '../../shared/translate/upstream-streams.ts';
import { wholeAnswer } from '../../helpers/official-types/whole-answer.ts';
import { wholeRequest } from '../../helpers/official-types/whole-request.ts';

let schemaOf: (type: BodyType) => BodySchema;
beforeAll(() => {
  schemaOf = readSchemas();
});

const clients = ['chat', 'messages', 'responses'] as const;
const parsers: Readonly<Record<string, (body: JsonObject) => JsonObject>> = {
  chat: parseChatRequest,
  messages: parseMessagesRequest,
  responses: parseResponsesRequest,
};
const sentTo: ModelTraits = { model: 'target', origin: 'here', takesFiles: true };
const answerTypes = { chat: 'ChatAnswer', messages: 'MessagesAnswer', responses: 'ResponsesAnswer' } as const;
const requestTypes = { chat: 'ChatRequest', messages: 'MessagesRequest', responses: 'ResponsesRequest' } as const;

const answerContext = { id: 'resp_1', model: 'model', created: 1, seal: (text: string) => text, origin: 'here' };

/** Fields that Anthropic's SDK sends as headers. */
const sentAsHeaders = new Set(['user_profile_id', 'workspace_id']);

describe.each(clients)('bodies of the official types of %s requests', (client) => {
  it.each(clients)('reach a %s upstream whole, or are refused by name, or the docs say what is dropped', (upstream) => {
    const rules = readRequestRules(client, upstream);
    const fields = new Cases(schemaOf(requestTypes[client])).byField();
    const { bodies, lost } = lossesOf(fields, (field) => translatorOf(client, upstream, field), rules);
    expect(lost).toEqual([]);
    expect(bodies).toBeGreaterThan(100);
  });
});

describe.each(clients)('the rules for requests of a %s client', (client) => {
  it.each(clients)('to a %s upstream name every field of the official type', (upstream) => {
    const named = new Set(readRequestRules(client, upstream).map(({ field }) => /^\w+/.exec(field)?.[0]));
    const fields = new Cases(schemaOf(requestTypes[client])).fields().filter((field) => !sentAsHeaders.has(field));
    expect(fields.length).toBeGreaterThan(10);
    expect(fields.filter((field) => !named.has(field))).toEqual([]);
  });
});

describe.each(clients)('bodies of the official types of %s answers', (upstream) => {
  it.each(clients)('reach a %s client whole, or the docs say what is dropped', (client) => {
    const rules = readAnswerRules(client, upstream);
    // A response repeats the settings of its request, which clients of other formats have not sent.
    const repeats = upstream === 'responses' && client !== upstream;
    const repeated = new Set(repeats ? new Cases(schemaOf('ResponsesRequest')).fields() : []);
    const fields = [...new Cases(schemaOf(answerTypes[upstream])).byField()].filter(([field]) => !repeated.has(field));
    const { bodies, lost } = lossesOf(fields, (field) => replierOf(client, upstream, field), rules);
    expect(lost).toEqual([]);
    expect(bodies).toBeGreaterThan(30);
  });
});

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const answers = {
  chat: { choices: [{ message: { role: 'assistant', content: 'a', tool_calls: [call] }, finish_reason: 'stop' }] },
  messages: { content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn', usage: {} },
  responses: {
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ],
  },
};

function wholeTo(client: string, upstream: keyof typeof answers): JsonObject[] {
  const { translateReply: reply } = translationBetween(client, upstream);
  return [answers[upstream], wholeAnswer(upstream, {})].map((answer) => reply(answer, answerContext).body);
}

it.each(clients)('the answer of a %s upstream has all fields that a chat client needs', (upstream) => {
  for (const body of wholeTo('chat', upstream)) expect(lackedFields(schemaOf('ChatAnswer'), body)).toEqual([]);
});

describe.each(['chat', 'responses'] as const)("a %s upstream's answer", (upstream) => {
  it('has all fields that the types for a messages client require', () => {
    for (const body of wholeTo('messages', upstream))
      expect(lackedFields(schemaOf('MessagesAnswer'), body)).toEqual([]);
  });

  it('has them as a stream, too', () => {
    const { createStream: stream } = translationBetween('messages', upstream);
    const { text } = runStream(stream(answerContext), upstreamStreams[upstream]);
    const events = namedEvents(text).filter(({ type }) => type !== 'ping');
    expect(events.flatMap((event) => lackedFields(schemaOf('MessagesEvent'), event))).toEqual([]);
  });
});

type Translate = (tree: Tree, changed?: Change) => string | RouterError;

/** What a provider takes at most. */
function targetOf(upstream: string): ModelTraits {
  // An upstream of the Responses format keeps what it has encrypted itself.
  const unseal = upstream === 'responses' ? () => undefined : open;
  return { ...sentTo, unseal, compacts: upstream === 'responses' };
}

/** Translates a body with a case in one of its fields; an error of the client's request is a result, too. */
function translatorOf(client: string, upstream: string, field: string): Translate {
  const translation = translationBetween(client, upstream);
  return (tree, changed) => {
    const value = (valueOf(tree, changed) as JsonObject)[field];
    const body = wholeRequest(client, { ...(value !== undefined && { [field]: value }) });
    try {
      const parsed = parsers[client]?.(body) ?? {};
      // What the answer repeats of the request is no effect of it.
      const { repeated: _, ...recalled } = translation.recallFields?.(parsed) ?? {};
      return JSON.stringify([translation.translateRequest(parsed, targetOf(upstream)), recalled]);
    } catch (error) {
      if (error instanceof RouterError && error.code !== 'internal') return error;
      throw error;
    }
  };
}

/** What the owner's seals hold, for any sealed text. */
function open(sealed: string): string {
  return JSON.stringify({ text: sealed, summary: sealed, sealed: { model: 'target', signature: sealed } });
}

/** What is not the client's to choose, or is the same in two ways of writing. */
const exempt = new Set([
  // The name of the model that serves the request.
  'model',
  // The bodies are those of requests without a stream: `false` or nothing.
  'stream',
  // The router's own, or a count or sum of what stands beside it.
  'id',
  'created',
  'created_at',
  'choices[].index',
  'usage.total_tokens',
  // The SDK puts it together.
  'output_text',
  // An item without a type is a message.
  'input[].type',
  // Text is what a model writes anyway.
  'text.format',
  'tools[].format',
  'tools[].custom.format',
  'input[].tools[].format',
  // A tool without a type is custom.
  'tools[].type',
  // The router stores answers itself.
  'store',
  // Tools that are allowed are those that are offered: their own case.
  'tool_choice.allowed_tools.tools[]',
  'tool_choice.tools[]',
]);
/** What has an effect whatever it is: a key of a cache, a time to keep something, a length of summaries. */
const ofPresence = /^prompt_cache_key$|^reasoning\.summary$|prompt_cache_(?:breakpoint|options)\.ttl$/;
/** Identities of people, which are hashed. */
const hashed = new Set(['user', 'safety_identifier', 'metadata.user_id']);

/** Translates an answer with a case in one of its fields. */
function replierOf(client: string, upstream: string, field: string): Translate {
  const translation = translationBetween(client, upstream);
  return (tree, changed) => {
    const value = (valueOf(tree, changed) as JsonObject)[field];
    const body = wholeAnswer(upstream, { ...(value !== undefined && { [field]: value }) });
    try {
      return JSON.stringify(translation.translateReply(body, answerContext).body);
    } catch (error) {
      if (error instanceof RouterError && error.code === 'upstream_failed') return error.message;
      throw error;
    }
  };
}

/** Counts bodies, and returns what nothing accounts for of their leaves. */
function lossesOf(
  fields: Iterable<[string, { tree: Tree; focus: readonly Leaf[] }[]]>,
  translateOf: (field: string) => Translate,
  rules: readonly FieldRule[] = [],
): { bodies: number; lost: string[] } {
  const all = Array.from(fields, ([field, cases]) => cases.map(({ tree, focus }) => ({ field, tree, focus }))).flat();
  const lost = all.flatMap(({ field, tree, focus }) =>
    focus.flatMap((leaf) => lossOf(translateOf(field), { [field]: tree }, leaf, rules) ?? []),
  );
  return { bodies: all.length, lost };
}

/** Why a leaf is lost; undefined if the translation carries it, refuses it by name, or the rules say that it is dropped. */
function lossOf(translate: Translate, tree: Tree, leaf: Leaf, rules: readonly FieldRule[]): string | undefined {
  const place = placeOf(tree, leaf) ?? { path: '?', types: [] };
  // What an upstream says of its own failures is only logged.
  if (/^error\b/.test(place.path)) return undefined;
  if (exempt.has(place.path) || exempt.has(place.path.replace(/\.m\d+v0$/, ''))) return undefined;
  const was = translate(tree);
  if (was instanceof RouterError)
    return namesField(was, place.path) ? undefined : `${place.path}: refused as ${was.param}: ${was.message}`;
  const changes = ofPresence.test(place.path) ? [1, 2, 'absent' as const] : [1, 2];
  const variants = changes.map((variant) => translate(tree, { leaf, variant }));
  const name = `${place.path} (${place.types.join(' ')})`;
  if (variants.every((is) => is === was)) return isAnnounced(rules, place) ? undefined : `${name}: dropped`;
  const marker = leaf.marker?.(0);
  if (marker === undefined || was.includes(marker) || hashed.has(place.path) || ofPresence.test(place.path))
    return undefined;
  return `${name}: changed beyond recognition`;
}

/**
 * Whether rules, of which the docs are made, say of a place that it has no effect: by one of it, or of what it is in. What follows the
 * path in a rule's name (`… document, citations`) names types of objects or fields.
 */
function isAnnounced(rules: readonly FieldRule[], { path: given, types }: Place): boolean {
  // What blocks in blocks have is as in others.
  const path = given.replace('content[].content[]', 'content[]').replace(/(?:\w+\[\]\.)*tools\[\]/, 'tools[]');
  const words = [...path.split(/[.[\]]+/), ...types];
  const isNamed = (word: string): boolean => words.some((each) => each === word || each.startsWith(`${word}_`));
  return rules.some(({ field, effect }) => {
    if (effect.kind !== 'ignored' && !JSON.stringify(effect).includes('not offered')) return false;
    const [prefix = '', ...further] = field.split(/[\s,]+/);
    const isIn = [given, path].some(
      (each) => each === prefix || (/^[.[]/.test(each.slice(prefix.length)) && each.startsWith(prefix)),
    );
    return isIn && (further.length === 0 || further[1] === 'other' || further.some(isNamed));
  });
}

/** Whether an error names a field that the place is in, or one in it. */
function namesField({ param }: RouterError, path: string): boolean {
  if (param === undefined) return false;
  const named = param.replaceAll(/\[\d+\]|\.\d+/g, '[]');
  return path.startsWith(named) || named.startsWith(path) || path.startsWith(named.replace(/\.\w+$/, ''));
}
