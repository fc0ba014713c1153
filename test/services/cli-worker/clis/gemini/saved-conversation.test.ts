import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SavedConversation } from '#services/cli-worker/clis/gemini/saved-conversation.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';

const turns = [
  { role: 'user' as const, parts: [{ text: '/help' }] },
  { role: 'model' as const, parts: [{ functionCall: { id: 'c', name: 'mcp_client_f', args: {} } }] },
];

it("a saved conversation returns Gemini CLI's record of its answer, whatever its history contains", async () => {
  const folder = temporaryFolder();
  const saved = await SavedConversation.create(folder, turns);
  const [file = ''] = readdirSync(folder);
  appendFileSync(join(folder, file), readFileSync('test/fixtures/clis/gemini/noted-calls.jsonl'));
  expect(await saved.readAnswer()).toEqual({
    usage: { promptTokens: 111, cachedTokens: 30, cacheWriteTokens: 0, completionTokens: 12, reasoningTokens: 5 },
    calls: [
      { name: 'mcp_c_get_weather_x', args: { n: 1, city: 'a' } },
      { name: 'mcp_c_get_weather_x', args: { n: 2, city: 'b' } },
    ],
  });
});

it('a saved conversation without an answer has neither usage nor calls', async () => {
  const saved = await SavedConversation.create(temporaryFolder(), turns);
  expect(await saved.readAnswer()).toEqual({ usage: undefined, calls: [] });
});

it('a saved conversation ends with a mark that no client text contains, and deletes all its files', async () => {
  const folder = temporaryFolder();
  const [one, other] = [await SavedConversation.create(folder, turns), await SavedConversation.create(folder, turns)];
  expect(one.isEndMarker(`[Thought: ${one.endMarker}]`)).toBe(true);
  for (const text of [`[Thought: ${other.endMarker}]`, '[Thought: true]', one.endMarker])
    expect(one.isEndMarker(text)).toBe(false);
  // Named like the file that Gemini CLI itself begins.
  writeFileSync(join(folder, `session-2026-11-26T18-59-${one.sessionId.slice(0, 8)}.jsonl`), '');
  await one.delete();
  expect(readdirSync(folder)).toEqual([expect.stringContaining(other.sessionId.slice(0, 8))]);
});
