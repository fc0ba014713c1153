import { expect, it } from 'vitest';
import { checkModels } from '#services/batch-runner/alerts/check-models.ts';
import { openAlerts } from '../../../helpers/webhooks/open-test-webhooks.ts';

const graceMs = 15_000;

async function open() {
  const { sent, known, states } = await openAlerts('rtr.model.*');
  return {
    look: (models: string[], now: number, knowsEjected = true) =>
      checkModels({ models: new Set(models), knowsEjected }, { states, graceMs }, now),
    sent,
    known: () => known('models'),
  };
}

it('a model without a worker for a while is reported once, however many runners check, and once when it is back', async () => {
  const { look, sent } = await open();
  const lookAll = (models: string[], now: number) => Promise.all([1, 2, 3].map(() => look(models, now)));
  await lookAll(['a', 'b'], 0);
  await lookAll(['b'], 5_000);
  await lookAll(['b'], 5_000 + graceMs - 1);
  expect(await sent()).toEqual([]);
  await lookAll(['b'], 5_000 + graceMs);
  await lookAll(['b'], 90_000);
  const data = { models: ['a'], count: 1 };
  expect(await sent()).toEqual([{ type: 'rtr.model.unserved', data }]);
  await lookAll(['a', 'b'], 100_000);
  await lookAll(['a', 'b'], 105_000);
  expect(await sent()).toHaveLength(2);
  expect(await sent()).toContainEqual({ type: 'rtr.model.served', data });
});

it('a model that is back within that time is not reported', async () => {
  const { look, sent } = await open();
  for (const [now, models] of [['a'], [], ['a'], [], []].entries()) await look(models, now * 10_000);
  expect(await sent()).toEqual([]);
  await look([], 60_000);
  expect(await sent()).toHaveLength(1);
});

it('a model of a worker with many models is reported with them in one event', async () => {
  const { look, sent } = await open();
  const models = Array.from({ length: 300 }, (_, at) => `m${at}`);
  await look(models, 0);
  await look([], 1);
  await look([], 60_000);
  expect(await sent()).toMatchObject([{ type: 'rtr.model.unserved', data: { count: 300 } }]);
});

it('a model that was reported stays unserved while no ingress reports its ejections, and is dropped after a week', async () => {
  const { look, sent, known } = await open();
  await look(['a'], 0);
  await look([], 1);
  await look([], 60_000);
  await look(['a'], 65_000, false);
  expect(await sent()).toHaveLength(1);
  await look([], 8 * 86_400_000);
  expect(await known()).toEqual([]);
  expect(await sent()).toHaveLength(1);
});

it('models without end, as a worker that invents names announces them, leave a bounded number of records for an hour', async () => {
  const { look, known } = await open();
  const invent = (round: number) => Array.from({ length: 3_000 }, (_, at) => `invented-${round}-${at}`);
  for (const round of [0, 1, 2]) await look(invent(round), round);
  expect(await known()).toHaveLength(5_000);
  await look([], 10);
  await look([], 60_000);
  await look([], 60_000 + 3_600_000);
  expect(await known()).toEqual([]);
});
