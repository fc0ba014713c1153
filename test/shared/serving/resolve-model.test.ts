import { expect, it } from 'vitest';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { resolveModel, resolveRequestedName } from '#shared/serving/resolve-model.ts';

const registry = registrySchema.parse({
  models: {
    coder: {
      targets: [{ model: 'big' }],
      purposes: {
        auxiliary: { targets: ['a', 'b'].map((model) => ({ model, weight: 1 })) },
        subagent: { targets: [{ model: 'medium' }] },
      },
      agents: { Explore: { targets: [{ model: 'small', tier: 'gpu' }] } },
      defaults: { temperature: 0 },
    },
    alone: { purposes: { compaction: { targets: [{ model: 'small' }] } } },
  },
  auto: { agents: { Plan: { targets: [{ model: 'big' }] } } },
});

function resolved(name: string, asked: Partial<RequestPurpose>) {
  const model = resolveModel(name, registry, { purpose: undefined, agentType: undefined, ...asked }, () => 0.9);
  const { path, targets } = model.kind === 'auto' ? { ...model.rule } : { path: model.rule, targets: model.targets };
  return { rule: path, targets: targets?.map((target) => target.model) };
}

it.each([
  ['coder', {}, undefined, ['big']],
  ['coder', { purpose: 'main' }, undefined, ['big']],
  ['coder', { purpose: 'auxiliary' }, 'models.coder.purposes.auxiliary', ['b', 'a']],
  ['coder', { purpose: 'subagent' }, 'models.coder.purposes.subagent', ['medium']],
  ['coder', { purpose: 'subagent', agentType: 'Plan' }, 'models.coder.purposes.subagent', ['medium']],
  ['coder', { purpose: 'subagent', agentType: 'Explore' }, 'models.coder.agents.Explore', ['small']],
  ['coder', { agentType: 'constructor' }, undefined, ['big']],
  ['alone', { purpose: 'compaction' }, 'models.alone.purposes.compaction', ['small']],
  ['alone', { purpose: 'main' }, undefined, ['alone']],
  ['medium', { purpose: 'auxiliary' }, undefined, ['medium']],
  ['auto', { agentType: 'Plan' }, 'auto.agents.Plan', ['big']],
  ['auto', { purpose: 'auxiliary' }, undefined, undefined],
] as const)('the rule that applies to a request for %s, sent for %j, is %s', (name, asked, rule, targets) => {
  expect(resolved(name, asked)).toEqual({ rule, targets });
});

it('the rule that applies to a request does not change the defaults of a name', () => {
  const model = resolveModel('coder', registry, { purpose: 'subagent', agentType: undefined });
  expect(model).toMatchObject({ defaults: { temperature: 0 }, isRegistered: true });
});

const workers = { isKnownModel: (model: string) => ['demo', 'anthropic/claude-sonnet-5'].includes(model) };

it('the requested name is the one behind an alias', () => {
  expect(resolveRequestedName({ model: 'anthropic/demo', nameBehind: 'demo' }, {}, workers)).toBe('demo');
  expect(resolveRequestedName({ model: 'anthropic/auto', nameBehind: 'auto' }, {}, workers)).toBe('auto');
});

it('the requested name is its own if a model or the registry has it', () => {
  const { models } = registrySchema.parse({ models: { 'anthropic/x': { targets: [{ model: 'demo' }] } } });
  for (const [model, nameBehind] of [
    ['anthropic/claude-sonnet-5', 'claude-sonnet-5'],
    ['anthropic/x', 'demo'],
    ['demo', undefined],
  ] as const)
    expect(resolveRequestedName({ model, nameBehind }, models, workers)).toBe(model);
});
