import { describe, expect, it } from 'vitest';
import { shellWord } from '#services/console/web/formats/to-curl-command.ts';
import { servedFormats } from '#services/console/web/formats/web-formats.ts';

const paths = { messages: 'anthropic', responses: 'openai', chat: 'openai', 'of-a-later-release': 'later' };
const formats = Object.entries(paths).map(([name, path]) => ({ name, path: `/api/${path}` }));
const about = { version: '1', formats };

function snippetsFor(model: string, origin: string) {
  return servedFormats(about).flatMap((format) => format.snippets(model, `${origin}${format.base}`));
}

it('a page offers the formats that both the router and the page speak, each at the path that the router has named', () => {
  const served = servedFormats(about).map(({ name, label, base }) => `${name}, ${label}: ${base}`);
  const others = ['messages, Anthropic: /api/anthropic', 'responses, Responses: /api/openai'];
  expect(served).toEqual(['chat, OpenAI: /api/openai', ...others]);
  expect(servedFormats({ ...about, formats: [] })).toEqual([]);
});

describe('example code', () => {
  it('contains the address and the model, and never a key', () => {
    const snippets = snippetsFor('org/model', 'https://llm.example.com');
    const all = 'curl openai-ts openai-py opencode anthropic-ts anthropic-py claude-code responses-ts codex';
    expect(snippets.map(({ id }) => id).join(' ')).toBe(all);
    for (const { code } of snippets) {
      expect(code).toContain('org/model');
      expect(code).toMatch(/https:\/\/llm\.example\.com\/api\/(?:openai|anthropic)\b/);
      expect(code).toContain('RTR_KEY');
    }
  });

  it('stays valid code whatever the name of the model', () => {
    const name = `a'b"c\\ $(x)`;
    const byId = new Map(snippetsFor(name, 'http://h').map(({ id, code }) => [id, code]));
    expect(byId.get('openai-ts')).toContain(`model: ${JSON.stringify(name)}`);
    expect(byId.get('claude-code')).toContain(String.raw`--model 'a'\''b"c\ $(x)'`);
    expect(byId.get('codex')).toContain(String.raw`--model 'a'\''b"c\ $(x)'`);
    expect(shellWord('plain/word-1')).toBe('plain/word-1');
  });
});
