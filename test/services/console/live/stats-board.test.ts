import { randomUUID } from 'node:crypto';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { publishIngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { StatsBoard } from '#services/console/live/stats-board.ts';
import { StatsMeter } from '#services/console/live/stats-meter.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

it('the stats of a new ingress replace those of nodes that are gone, although nobody has read the stats meanwhile', async () => {
  const settings = { url: inject('natsUrl'), name: 'board', prefix: randomUUID(), log: silentLog };
  const broker = await connectBroker(settings);
  onTestFinished(() => broker.close());
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const meter = new StatsMeter(() => []);
  const received = new Set<string>();
  const board = new StatsBoard(
    broker,
    'own',
    () => meter.read(),
    (from) => received.add(from),
  );
  onTestFinished(() => board.close());
  for (let count = 0; count < 1_000; count += 1) publishIngressStats(broker, `gone-${count}`, meter.read());
  await until(() => expect(received.size).toBeGreaterThanOrEqual(1_000));
  vi.advanceTimersByTime(4_000);
  received.clear();
  publishIngressStats(broker, 'new', { ...meter.read(), activeStreams: 7 });
  await until(() => expect([...received]).toContain('new'));
  expect(board.listCurrent().map(({ activeStreams }) => activeStreams)).toContain(7);
});
