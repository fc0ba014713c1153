import { describe, expect, it } from 'vitest';
import { anthropicApi } from '#shared/formats/apis/anthropic-api.ts';
import { resolveAlias } from '#shared/formats/apis/discovered-models.ts';

function card(id: string, tiers: string[], more: object = {}) {
  return { id, created: 1, ownedBy: 'x', tiers, operations: ['generate' as const], capabilities: [], ...more };
}

const cards = [
  card('auto', []),
  card('claude-sonnet-5', ['cloud'], { contextWindow: 1_000_000 }),
  card('qwen/qwen3-32b', ['gpu', 'cloud'], { contextWindow: 40_960, tokensPerSecond: 46.31 }),
];

/** The headers of Claude Code 2.1.330 when it requests the model list. */
const discovery = { 'user-agent': 'claude-code/2.1.330', 'anthropic-version': '2023-06-01' };

describe('the models in the list for Claude Code', () => {
  it('have ids that Claude Code keeps, and a description', () => {
    expect(anthropicApi.listModels(cards, { limit: '1000' }, discovery)).toMatchObject({
      data: [
        { id: 'anthropic/auto', display_name: 'auto', description: 'any model that can serve a request' },
        {
          id: 'claude-sonnet-5',
          display_name: 'claude-sonnet-5 (cloud)',
          description: 'tier cloud, 1,000,000 tokens of context',
        },
        {
          id: 'anthropic/qwen/qwen3-32b',
          display_name: 'qwen/qwen3-32b (gpu, cloud)',
          description: 'tier gpu or cloud, 40,960 tokens of context, about 46 tokens/s',
        },
      ],
    });
  });

  it('are only those that generate answers', () => {
    const embedder = card('embedder', ['gpu'], { operations: ['embed'] });
    expect(anthropicApi.listModels([embedder], {}, {})).toMatchObject({ data: [] });
  });

  it('have their own ids for every other client, including Claude Code in its other requests', () => {
    for (const agent of ['claude-cli/2.1.330 (external, sdk-cli)', 'Anthropic/JS 1.12.0', undefined]) {
      expect(anthropicApi.listModels(cards, {}, { 'user-agent': agent })).toMatchObject({
        data: [{ id: 'auto' }, { id: 'claude-sonnet-5' }, { id: 'qwen/qwen3-32b', display_name: 'qwen/qwen3-32b' }],
      });
    }
  });

  it('are found by their aliases', () => {
    expect(resolveAlias('anthropic/qwen/qwen3-32b')).toBe('qwen/qwen3-32b');
    expect(resolveAlias('claude-sonnet-5')).toBeUndefined();
  });
});
