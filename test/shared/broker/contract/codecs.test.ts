import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAnnouncement, encodeAnnouncement } from '#shared/broker/contract/announcement.ts';
import { derivePoolToken } from '#shared/broker/contract/pool-token.ts';
import { decodeAck, encodeAck } from '#shared/broker/contract/ack.ts';
import { decodeClaim, decodeClaimAnswer, encodeClaim, encodeClaimAnswer } from '#shared/broker/contract/claim.ts';
import { findCommonVersion, includesVersion } from '#shared/broker/contract/contract-range.ts';
import { decodeEnd, decodeError, dispatcherCodes, encodeEnd, encodeError } from '#shared/broker/contract/frame.ts';
import { noUsage } from '#shared/core/usage.ts';
import { operations } from '#shared/core/operation.ts';
import { createSubjects, isOwnInbox } from '#shared/broker/contract/subjects.ts';
import { decodeTicket, encodeTicket } from '#shared/broker/contract/ticket.ts';
import { parseWorkerAddress } from '#shared/broker/contract/worker-address.ts';
import { announcementOf } from '../../../helpers/broker/announcement.ts';
import { errorTable, RouterError, type ErrorCode } from '#shared/core/errors.ts';

const count = fc.nat();
const bytes = fc.uint8Array({ maxLength: 200 });
const units = fc.record({ images: count, seconds: count, characters: count, searches: count }, { requiredKeys: [] });
const usage = fc.record({
  promptTokens: count,
  cachedTokens: count,
  cacheWriteTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  units: fc.option(units, { nil: undefined }),
});
const grant = fc.record({
  answer: fc.constant('grant' as const),
  v: fc.nat().map((more) => more + 1),
  job: fc.string(),
  requestId: fc.string(),
  operation: fc.constantFrom(...operations),
  format: fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/),
  stream: fc.boolean(),
  model: fc.string(),
  ownerMark: fc.option(fc.string(), { nil: undefined }),
  reply: fc.string(),
  bodyBytes: count,
});

describe('messages of the broker contract', () => {
  it('keep tickets and claims unchanged through encode and decode', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 64 }), fc.string({ maxLength: 512 }), (job, name) => {
        const ticket = { v: 1, ingress: name, job };
        expect(decodeTicket(Buffer.from(encodeTicket(ticket)))).toEqual(ticket);
        const claim = { v: 1, job, ticket: name };
        expect(decodeClaim(Buffer.from(encodeClaim(claim)))).toEqual(claim);
      }),
    );
  });

  it('keep announcements unchanged', () => {
    const models = [
      { id: 'embedder', operations: ['embed' as const], capabilities: [] },
      { id: 'plain', capabilities: ['stream' as const] },
      { id: 'both', operations: ['generate' as const, 'embed' as const], capabilities: [] },
    ];
    const announcement = announcementOf({ models });
    expect(decodeAnnouncement(Buffer.from(encodeAnnouncement(announcement)))).toEqual(announcement);
  });

  it('carry a list of missing features once for all models that share it', () => {
    const [pdf, sound] = [['pdf@messages'], ['audio_input@chat', 'pdf@messages']];
    const models = [
      { id: 'a', capabilities: [], lacks: pdf },
      { id: 'b', capabilities: [], lacks: sound },
      { id: 'c', capabilities: [], lacks: pdf },
      { id: 'd', capabilities: [] },
    ];
    const announcement = announcementOf({ tier: 'cloud', models });
    const payload = encodeAnnouncement(announcement);
    expect(JSON.parse(payload)).toMatchObject({ lackLists: [pdf, sound] });
    expect(decodeAnnouncement(Buffer.from(payload))).toEqual(announcement);
    const unreadable = payload.replace('"lackLists":[[', '"lackLists":[[7,');
    expect(decodeAnnouncement(Buffer.from(unreadable))?.models[1]).toEqual({ id: 'b', capabilities: [] });
    const pool = { tier: 'cloud' as const, kind: 'k', formats: [] };
    const lacking = models.map(({ id, capabilities }) => ({ id, capabilities }));
    expect(derivePoolToken({ ...pool, models })).not.toBe(derivePoolToken({ ...pool, models: lacking }));
  });

  it('carry the content of MCP servers without the kinds that only a later release has', () => {
    const tool = { name: 'find', description: '', inputSchema: { type: 'object' }, server: 'wiki' };
    const content = { ...tool, name: 'wiki/*', passes: ['resources' as const] };
    const announcement = announcementOf({ tier: 'tools', tools: [tool, content] });
    const payload = encodeAnnouncement(announcement);
    expect(decodeAnnouncement(Buffer.from(payload))).toEqual(announcement);
    const later = payload.replace('["resources"]', '["levitation","resources"]');
    expect(decodeAnnouncement(Buffer.from(later))?.tools).toEqual([tool, content]);
  });

  it('drop operations and capabilities that only a later release has', () => {
    const model = { id: 'm', operations: ['embed', 'levitate'], capabilities: [] };
    const models = [{ id: 'demo', capabilities: ['stream', 'smell'] }, model];
    const payload = JSON.stringify({ ...announcementOf(), models });
    const known = [
      { id: 'demo', capabilities: ['stream'] },
      { ...model, operations: ['embed'] },
    ];
    expect(decodeAnnouncement(Buffer.from(payload))?.models).toEqual(known);
  });

  it('drop models and tools with harmful names, and no others', () => {
    const strange = ['<script>', 'a\nb', '\u001b[2J', 'a\u202eb', 'a\u2028b'];
    const harmful = [...strange, '__proto__', 'constructor', 'm'.repeat(257), ''];
    const fine = ['hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M', 'C:\\models\\My Model.gguf', 'modèle-é', 'm'.repeat(256)];
    const models = [...harmful, ...fine].map((id) => ({ id, capabilities: [] }));
    const tools = [...harmful, ...fine].map((name) => ({
      name,
      description: 'one\ntwo',
      inputSchema: { type: 'object' },
    }));
    const payload = JSON.stringify({ ...announcementOf(), models, tools });
    const read = decodeAnnouncement(Buffer.from(payload));
    expect(read?.models.map(({ id }) => id)).toEqual(fine);
    expect(read?.tools.map(({ name }) => name)).toEqual(fine);
  });

  it('remove control characters from texts for people and cut long ones', () => {
    const escape = '\u001b[31mred\n';
    const tool = { name: 't', title: escape, description: '', inputSchema: { type: 'object' } };
    const facts = { host: escape.repeat(100), version: escape, reason: escape, tools: [tool] };
    const read = decodeAnnouncement(Buffer.from(encodeAnnouncement(announcementOf(facts))));
    expect(read).toMatchObject({ version: '[31mred', reason: '[31mred', tools: [{ title: '[31mred' }] });
    expect(read?.host).toMatch(/^[^\p{C}]{1,255}$/u);
  });

  it('drop impossible context windows, and schemas that cannot be written again', () => {
    const model = { id: 'm', capabilities: [], contextWindow: 9e15, maxOutput: -1 };
    const nested = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const tool = { name: 't', description: '', inputSchema: { x: 7 } };
    const payload = encodeAnnouncement(announcementOf({ models: [model], slots: 9e15, tools: [tool] }));
    const read = decodeAnnouncement(Buffer.from(payload));
    expect(read?.models).toEqual([{ id: 'm', capabilities: [] }]);
    expect(read?.slots).toBe(16_384);
    const deep = `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`;
    expect(decodeAnnouncement(Buffer.from(payload.replace('{"x":7}', deep)))?.tools).toEqual([]);
    expect(decodeAnnouncement(Buffer.from(payload.replace('{"x":7}', nested)))).toBeUndefined();
  });

  it('keep a hundred formats and capabilities, and each operation once: every request looks through them', () => {
    const names = Array.from({ length: 101 }, (_, at) => `web_search@format-${at}` as const);
    const model = { id: 'a', capabilities: names, operations: Array.from({ length: 1_000 }, () => 'embed' as const) };
    const encoded = encodeAnnouncement(announcementOf({ models: [model], formats: names }));
    expect(decodeAnnouncement(Buffer.from(encoded))).toMatchObject({
      models: [{ id: 'a', capabilities: names.slice(0, 100), operations: ['embed'] }],
      formats: names.slice(0, 100),
    });
  });

  it('keep a hundred missing features, which each model may repeat, and are refused with an impossible start time', () => {
    const features = Array.from({ length: 101 }, (_, at) => `feature-${at}`);
    const models = [{ id: 'a', capabilities: [], lacks: ['x'.repeat(65), ...features] }];
    const payload = encodeAnnouncement(announcementOf({ tier: 'cloud', models }));
    const kept = [{ id: 'a', capabilities: [], lacks: features.slice(0, 100) }];
    expect(decodeAnnouncement(Buffer.from(payload))?.models).toEqual(kept);
    for (const startedAt of [1e300, -1e300]) {
      const odd = encodeAnnouncement({ ...announcementOf({ tier: 'cloud', models: [] }), startedAt });
      expect(decodeAnnouncement(Buffer.from(odd))).toBeUndefined();
    }
  });

  it('are refused completely if an announcement is too large or has too many values', () => {
    const facts = { capabilities: ['stream' as const], contextWindow: 200_000 };
    const models = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ id: `vendor/model-${at}`, ...facts }));
    const read = (facts: object) => decodeAnnouncement(Buffer.from(JSON.stringify({ ...announcementOf(), ...facts })));
    expect(read({ models: models(3_000) })?.models).toHaveLength(3_000);
    expect(read({ models: models(10_000) })).toBeUndefined();
    expect(read({ further: Array.from({ length: 60_000 }, () => 1) })).toBeUndefined();
  });

  it('keep grants and ends unchanged with the bytes behind them, the first of a body or the last of an answer', () => {
    const ends = fc.record({ usage, finishReason: fc.string() });
    fc.assert(
      fc.property(grant, ends, bytes, (answer, end, more) => {
        const granted = decodeClaimAnswer(encodeClaimAnswer(answer, more));
        expect(granted?.answer).toEqual(answer);
        expect(Buffer.from(granted?.firstPart ?? [])).toEqual(Buffer.from(more));
        const ended = decodeEnd(encodeEnd(end, more));
        expect(ended?.end).toEqual(end);
        expect(Buffer.from(ended?.lastBytes ?? [])).toEqual(Buffer.from(more));
      }),
    );
  });

  it('keep errors unchanged without their cause', () => {
    const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => !dispatcherCodes.has(code));
    fc.assert(
      fc.property(
        fc.constantFrom(...codes),
        fc.string(),
        fc.option(fc.string(), { nil: undefined }),
        fc.option(fc.nat({ max: 604_800 }), { nil: undefined }),
        (code, message, param, retryAfter) => {
          const cause = new Error('secret');
          const encoded = encodeError(new RouterError(code, message, { param, retryAfter, cause }));
          const decoded = decodeError(Buffer.from(encoded));
          expect(decoded).toMatchObject({ code, message, param, retryAfter, cause: undefined });
        },
      ),
    );
    for (const code of ['invalid_api_key', 'missing_key', 'idempotency_key_reused', 'storage_full', 'workers_died'])
      expect(decodeError(Buffer.from(JSON.stringify({ code, message: 'm' })))).toMatchObject({
        code: 'upstream_failed',
      });
    const deep = `{"code":"internal","message":"m","details":{"error_code":"x","deep":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
    expect(decodeError(Buffer.from(deep))).toMatchObject({ code: 'internal', message: 'm', details: undefined });
    const details = { error_code: 'x', input_tokens: '5', unsupported: ['a'] };
    const error = new RouterError('context_length_exceeded', 'too long', { details });
    expect(decodeError(Buffer.from(encodeError(error))).details).toEqual(details);
    const said = { body: { error: { type: 'tea' } }, headers: { 'retry-after': '90' } };
    const original = { format: 'messages', status: 418, ...said };
    expect(decodeError(Buffer.from(encodeError(error.withOriginal(original)))).original).toEqual(original);
  });

  it('is bounded when it is the end or the error of a worker: counts, texts, waits and codes', () => {
    const impossible = { promptTokens: 1e300, cachedTokens: -5, cacheWriteTokens: 1.5 };
    const counts = { ...impossible, completionTokens: 'x', reasoningTokens: null };
    const end = Buffer.from(`${JSON.stringify({ usage: counts, finishReason: 'x'.repeat(1_000) })}\n`);
    const usage = { ...noUsage, promptTokens: Number.MAX_SAFE_INTEGER, cacheWriteTokens: 1 };
    expect(decodeEnd(end)?.end).toEqual({ usage, finishReason: 'x'.repeat(64) });
    const read = (fields: object) =>
      decodeError(Buffer.from(JSON.stringify({ code: 'upstream_failed', message: 'm', ...fields })));
    expect(read({ message: 'x'.repeat(100_000) }).message).toHaveLength(4_096);
    expect([read({ retryAfter: -1e9 }).retryAfter, read({ retryAfter: 1e300 }).retryAfter]).toEqual([0, 604_800]);
    expect(read({ code: 'queue_timeout' }).code).toBe('upstream_failed');
    expect(read({ code: 'insufficient_quota' }).code).toBe('insufficient_quota');
    const deep = `{"code":"upstream_failed","message":"m","original":{"format":"messages","status":400,"headers":{},"body":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}}`;
    expect(decodeError(Buffer.from(deep))).toMatchObject({ code: 'upstream_failed', original: undefined });
  });

  it('are refused without an exception if they are anything else', () => {
    const json = fc.json().map((text) => Buffer.from(`${text}\n`));
    fc.assert(
      fc.property(fc.oneof(bytes, json), (junk) => {
        for (const decode of [decodeTicket, decodeClaim, decodeClaimAnswer, decodeEnd])
          expect(decode(junk)).toBeUndefined();
        expect(decodeError(junk).code).toBe('internal');
      }),
    );
  });

  it('is refused when a name in it is too long to publish at', () => {
    const claim = { v: 1, job: 'j', ticket: 't'.repeat(513) };
    expect(decodeClaim(Buffer.from(encodeClaim(claim)))).toBeUndefined();
    expect(decodeClaim(Buffer.from(encodeClaim({ ...claim, job: 'j'.repeat(65), ticket: '' })))).toBeUndefined();
    expect(decodeAck(Buffer.from(encodeAck({ ticket: claim.ticket, as: 'done' })))).toBeUndefined();
    const subjects = createSubjects('rtr');
    const worker = { tier: 'gpu', credentialName: 'joe', worker: 'w', process: 'p' } as const;
    const inbox = `${subjects.inbox(worker)}.`;
    expect(isOwnInbox(subjects, worker, inbox.padEnd(512, 'x'))).toBe(true);
    expect(isOwnInbox(subjects, worker, inbox.padEnd(513, 'x'))).toBe(false);
    expect(parseWorkerAddress(`rtr.heartbeat.gpu.joe.${'x'.repeat(64)}.p`)?.credentialName).toBe('joe');
    expect(parseWorkerAddress(`rtr.heartbeat.gpu.joe.${'x'.repeat(65)}.p`)).toBeUndefined();
  });

  it('stay below 1 KiB for a ticket with the longest ids', () => {
    expect(encodeTicket({ v: 1, ingress: 'f'.repeat(64), job: 'j'.repeat(64) }).length).toBeLessThan(1024);
  });
});

const range = (oldest: number, newest: number) => ({ oldest, newest });

it.each([
  [range(1, 1), range(1, 1), 1],
  [range(1, 2), range(1, 1), 1],
  [range(1, 2), range(2, 3), 2],
  [range(1, 3), range(1, 2), 2],
  [range(1, 1), range(2, 3), undefined],
])('two sides of the broker contract, %j and %j, speak version %j', (one, other, version) => {
  expect(findCommonVersion(one, other)).toBe(version);
  expect(findCommonVersion(other, one)).toBe(version);
  if (version !== undefined) expect(includesVersion(one, version) && includesVersion(other, version)).toBe(true);
});
