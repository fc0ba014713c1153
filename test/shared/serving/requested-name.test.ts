import { describe, expect, it } from 'vitest';
import { requestedName } from '#shared/serving/requested-name.ts';

const workers = { isKnownModel: (model: string) => ['demo', 'anthropic/claude-sonnet-5'].includes(model) };

describe('the name that a request asks for', () => {
  it('is the one behind an alias', () => {
    expect(requestedName({ model: 'anthropic/demo', nameBehind: 'demo' }, {}, workers)).toBe('demo');
    expect(requestedName({ model: 'anthropic/auto', nameBehind: 'auto' }, {}, workers)).toBe('auto');
  });

  it('is its own where a model or the registry has it', () => {
    const own = { model: 'anthropic/claude-sonnet-5', nameBehind: 'claude-sonnet-5' };
    expect(requestedName(own, {}, workers)).toBe('anthropic/claude-sonnet-5');
    const entry = { targets: [{ model: 'demo' }], purposes: {}, agents: {}, defaults: {}, hedge: [] };
    expect(requestedName({ model: 'anthropic/x', nameBehind: 'demo' }, { 'anthropic/x': entry }, workers)).toBe(
      'anthropic/x',
    );
    expect(requestedName({ model: 'demo' }, {}, workers)).toBe('demo');
  });
});
