import { expect, it } from 'vitest';
import { formatHostedCapability } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { findCustomProvider } from '#services/cloud-worker/providers/custom.ts';
import { openCloudWorker } from '../../helpers/upstreams/open-cloud-worker.ts';
import { serveInTest } from '../../helpers/servers/serve-http.ts';

const mebibyte = 'x'.repeat(1024 * 1024);
const response = { id: 'r', output: [] };

/** Streams by upstream format that are kept until their end, each with the request, and the events before and of each mebibyte of text. */
const streams: Record<string, { request: JsonObject; opening: JsonObject[]; piece: JsonObject }> = {
  messages: {
    request: { input: 'Search.', tools: [{ type: 'web_search' }], store: false },
    opening: [
      { type: 'message_start', message: { usage: { input_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    piece: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: mebibyte } },
  },
  responses: {
    request: { input: [{ role: 'user', content: 'hi' }, { type: 'compaction_trigger' }], store: false },
    opening: [{ type: 'response.created', response }],
    piece: { type: 'response.output_text.delta', item_id: 'm', delta: mebibyte },
  },
};

it.each(Object.entries(streams))(
  'a stream of a %s upstream that is kept until its end is not longer than a whole answer may be',
  async (format, { request, opening, piece }) => {
    const url = await serveInTest((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of [...opening, ...Array<JsonObject>(65).fill(piece)])
        answer.write(`data: ${JSON.stringify(event)}\n\n`);
      answer.end();
    });
    const { run } = openCloudWorker(findCustomProvider(format), url, {
      models: () => [{ id: 'm', capabilities: ['stream', 'tools', formatHostedCapability('web_search', 'responses')] }],
    });
    await expect(run('responses', 'm', { ...request, stream: true })).rejects.toThrow('answer is too long');
  },
);
