import { expect, it } from 'vitest';
import { ModelSpeeds } from '#services/ingress/metrics/model-speeds.ts';

it('the speed of a model averages its last answers, the newest with a fifth', () => {
  const speeds = new ModelSpeeds();
  expect(speeds.find('demo')).toBeUndefined();
  speeds.add('demo', 50);
  speeds.add('demo', 100);
  expect(speeds.find('demo')).toBe(60);
  expect(speeds.find('other')).toBeUndefined();
});
