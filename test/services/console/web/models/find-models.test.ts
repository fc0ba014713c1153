import { expect, it } from 'vitest';
import type { ServedModel } from '#services/console/contract/live.ts';
import { capabilitiesOf, findModels, unpricedOf } from '#services/console/web/pages/models/find-models.ts';

const demo: ServedModel = {
  id: 'demo',
  kind: 'model',
  operations: ['generate'],
  capabilities: ['stream', 'vision'],
  servedBy: [{ tier: 'gpu', workers: 1, models: ['demo'] }],
};
const fast: ServedModel = {
  ...demo,
  id: 'fast',
  kind: 'registered',
  capabilities: ['stream', 'tools'],
  servedBy: [{ tier: 'cloud', workers: 1, models: ['o-mini', 'haiku'], unpriced: ['o-mini', 'haiku'] }],
};

it('models are found by name, tier and what is behind them, with all the capabilities that are needed', () => {
  const find = (text: string, ...capabilities: string[]) =>
    findModels([demo, fast], { text, capabilities }).map(({ id }) => id);
  expect([find(''), find('DEM'), find('haiku'), find('cloud'), find('gpu haiku')]).toEqual([
    ['demo', 'fast'],
    ['demo'],
    ['fast'],
    ['fast'],
    [],
  ]);
  expect([find('', 'stream'), find('', 'stream', 'tools'), find('', 'vision', 'tools')]).toEqual([
    ['demo', 'fast'],
    ['fast'],
    [],
  ]);
  expect(capabilitiesOf([demo, fast])).toEqual(['stream', 'vision', 'tools']);
  expect(unpricedOf([demo, fast, fast])).toEqual(['haiku', 'o-mini']);
});
