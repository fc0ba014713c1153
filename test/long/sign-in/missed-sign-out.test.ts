import { expect, it } from 'vitest';
import { postForm, signInProgram } from '../../helpers/clients/device-flow.ts';
import { statusWith } from '../../helpers/clients/status-with.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';
import { until } from '../../helpers/until.ts';

/** Sooner than an ingress would look at a token again without being told, half a minute after it was read. */
const noticedMs = 20_000;

/** What each ingress answers to a request with an access token. */
const statusesOf = (urls: readonly string[], accessToken: string): Promise<number[]> =>
  Promise.all(urls.map((url) => statusWith(url, accessToken)));

it.concurrent('a program that was signed out while the broker was away is refused on every ingress once it is back', async (test) => {
  const nats = await startNats();
  test.onTestFinished(() => nats.stop());
  const cluster = await startCluster({ natsUrl: nats.url, workers: 0, engineUrl: 'http://127.0.0.1:1' });
  test.onTestFinished(() => cluster.stop());
  const urls = [cluster.url, (await cluster.addIngress()).url];
  const { client: ada } = await firstAdministrator(cluster);
  const { accessToken } = await signInProgram(cluster.url, ada);
  const statuses = () => statusesOf(urls, accessToken);
  expect(await statuses()).toEqual([200, 200]);
  await nats.kill();
  const [program] = (await ada.get('/programs')).body;
  expect((await ada.delete(`/programs/${program.id}`)).status).toBe(204);
  // The other one cannot know it yet.
  expect(await statuses()).toEqual([401, 200]);
  await nats.restart();
  await until(async () => (await statuses()).join() === '401,401', noticedMs);
});

it.concurrent('a program whose sign-out Redis did not answer is refused on every ingress, while Redis is away and once it is back', async (test) => {
  const redis = await startRedis();
  test.onTestFinished(() => redis.stop());
  const cluster = await startCluster({ redisUrl: redis.url, workers: 0, engineUrl: 'http://127.0.0.1:1' });
  test.onTestFinished(() => cluster.stop());
  const other = await cluster.addIngress();
  const urls = [cluster.url, other.url];
  const { client: ada } = await firstAdministrator({ ...cluster, redisUrl: redis.url });
  const { accessToken, refreshToken } = await signInProgram(cluster.url, ada);
  const statuses = () => statusesOf(urls, accessToken);
  expect(await statuses()).toEqual([200, 200]);
  await redis.pause();
  const during = await postForm(`${cluster.url}/oauth/revoke`, { token: refreshToken });
  expect(during.status).toBe(503);
  await until(async () => (await statuses()).join() === '401,401', noticedMs);
  await redis.resume();
  const isBack = ({ lines }: ServiceProcess) => lines.some(({ msg }) => msg === 'redis is back');
  await until(() => [cluster.ingress, other.process].some(isBack));
  expect(await statuses()).toEqual([401, 401]);
});
