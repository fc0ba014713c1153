import { expect, it } from 'vitest';
import type { ServedModel } from '#services/console/contract/live.ts';
import { listCapabilities, findModels, listUnpriced } from '#services/console/web/pages/models/find-models.ts';

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

it('models are found by name, tier and the models behind a name, and only with all wanted capabilities', () => {
  const find = (text: string, ...capabilities: string[]) =>
    findModels([demo, fast], { text, capabilities })
      .map(({ id }) => id)
      .join(' ');
  const byText = ['', 'DEM', 'haiku', 'cloud', 'gpu haiku'].map((text) => find(text));
  expect(byText).toEqual(['demo fast', 'demo', 'fast', 'fast', '']);
  const byCapabilities = [find('', 'stream'), find('', 'stream', 'tools'), find('', 'vision', 'tools')];
  expect(byCapabilities).toEqual(['demo fast', 'fast', '']);
  expect(listCapabilities([demo, fast])).toEqual(['stream', 'vision', 'tools']);
  expect(listUnpriced([demo, fast, fast])).toEqual(['haiku', 'o-mini']);
});
