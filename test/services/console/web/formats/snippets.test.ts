import { describe, expect, it } from 'vitest';
import { shellWord, snippetsFor } from '#services/console/web/pages/models/snippets-for.ts';

const segments = { chat: 'openai', messages: 'anthropic' };

describe('code to copy', () => {
  it('has the address and the model in it, and never a key', () => {
    const snippets = snippetsFor('org/model', 'https://llm.example.com', segments);
    expect(snippets.map(({ id }) => id)).toEqual([
      'curl',
      'openai-ts',
      'openai-py',
      'anthropic-ts',
      'anthropic-py',
      'claude-code',
      'opencode',
    ]);
    for (const { code } of snippets) {
      expect(code).toContain('org/model');
      expect(code).toContain('https://llm.example.com/api/');
      expect(code).toContain('RTR_KEY');
    }
  });

  it('stays code, whatever a model is called', () => {
    const name = `a'b"c\\ $(x)`;
    const byId = new Map(snippetsFor(name, 'http://h', segments).map(({ id, code }) => [id, code]));
    expect(byId.get('openai-ts')).toContain(`model: ${JSON.stringify(name)}`);
    expect(byId.get('claude-code')).toContain(String.raw`--model 'a'\''b"c\ $(x)'`);
    expect(shellWord('plain/word-1')).toBe('plain/word-1');
  });
});
