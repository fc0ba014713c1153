// @module-tag docker
import { expect, inject, it } from 'vitest';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../helpers/batches/batch-clients.ts';

const { url, key } = inject('composeCluster') ?? { url: '', key: '' };

it('the batch runner of the Compose file works on a batch', async () => {
  const { openai } = batchClients({ url, key });
  const { id } = await submit(openai, [chatLine('a', 'Say A.'), chatLine('b', 'Say B.')]);
  const batch = await untilBatch(openai, id, undefined, 60_000);
  expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  const results = await resultsOf(openai, batch.output_file_id);
  expect(results.map(({ custom_id: custom }) => custom).toSorted()).toEqual(['a', 'b']);
});
