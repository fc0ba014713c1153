import { expect, it } from 'vitest';
import type { ServedModel } from '#services/console/contract/live.ts';
import { capabilitiesOf, findModels, unpricedOf } from '#services/console/web/pages/models/find-models.ts';

type Capability = ServedModel['capabilities'][number];
type Server = ServedModel['servedBy'][number];
const model = (id: string, capability: Capability, kind: 'model' | 'registered', server: Server): ServedModel => {
  return { id, kind, operations: ['generate'], capabilities: ['stream', capability], servedBy: [server] };
};
const demo = model('demo', 'vision', 'model', { tier: 'gpu', workers: 1, models: ['demo'] });
const ofFast = ['o-mini', 'haiku'];
const behind: Server = { tier: 'cloud', workers: 1, models: ofFast, unpriced: ofFast };
const fast = model('fast', 'tools', 'registered', behind);

it('models are found by name, tier and the models behind a name, and only with all wanted capabilities', () => {
  const find = (text: string, ...capabilities: string[]) =>
    findModels([demo, fast], { text, capabilities })
      .map(({ id }) => id)
      .join(' ');
  const byText = ['', 'DEM', 'haiku', 'cloud', 'gpu haiku'].map((text) => find(text));
  expect(byText).toEqual(['demo fast', 'demo', 'fast', 'fast', '']);
  const byCapabilities = [find('', 'stream'), find('', 'stream', 'tools'), find('', 'vision', 'tools')];
  expect(byCapabilities).toEqual(['demo fast', 'fast', '']);
  expect(capabilitiesOf([demo, fast])).toEqual(['stream', 'vision', 'tools']);
  expect(unpricedOf([demo, fast, fast])).toEqual(['haiku', 'o-mini']);
});
