import { expect, it, onTestFinished } from 'vitest';
import { signInProgram } from '../../helpers/clients/device-flow.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import { until } from '../../helpers/until.ts';

it('a program that was signed out while the broker was away is refused on every ingress once it is back', async () => {
  const nats = await startNats();
  onTestFinished(() => nats.stop());
  const cluster = await startCluster({ natsUrl: nats.url, workers: 0, engineUrl: 'http://127.0.0.1:1' });
  onTestFinished(() => cluster.stop());
  const urls = [cluster.url, (await cluster.addIngress()).url];
  const { client: ada } = await firstAdministrator(cluster);
  const { accessToken } = await signInProgram(cluster.url, ada);
  const statuses = () =>
    Promise.all(
      urls.map(async (url) => {
        const headers = { authorization: `Bearer ${accessToken}` };
        return (await fetch(`${url}/api/openai/v1/models`, { headers })).status;
      }),
    );
  expect(await statuses()).toEqual([200, 200]);
  await nats.kill();
  const [program] = (await ada.get('/programs')).body;
  expect((await ada.delete(`/programs/${program.id}`)).status).toBe(204);
  // The other one cannot know it yet.
  expect(await statuses()).toEqual([401, 200]);
  await nats.restart();
  await until(async () => (await statuses()).join() === '401,401', 10_000);
});
