import { join } from 'node:path';
import { until } from '../helpers/until.ts';
import { askForAnswer } from './release-package.ts';
import { hasTool, runTool } from './run-tool.ts';

/** The architectures of a release's images. */
const platforms = ['linux/amd64', 'linux/arm64'];

/** The images of a release: one for each part, and one with NATS and Redis that is a whole router. */
const images = [
  { target: 'image', suffix: '', tryImage: tryPart },
  { target: 'all', suffix: '-all', tryImage: tryRouter },
];

/** Milliseconds until a container must be ready. */
const startMs = 120_000;

/**
 * Builds each image, starts this machine's variant from an empty state, and saves it with all architectures that the builder can make.
 * @returns sentences about what this machine could not do
 */
export async function releaseImages(folder: string, version: string): Promise<string[]> {
  const notes = new Set<string>();
  const revision = await runTool('git', ['rev-parse', 'HEAD']);
  const args = ['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`];
  // The base and the registry that this machine builds with.
  for (const name of ['NODE_IMAGE', 'NPM_CONFIG_REGISTRY'])
    if (process.env[name] !== undefined) args.push('--build-arg', name);
  const builder = await runTool('docker', ['buildx', 'inspect', '--bootstrap']);
  const buildsAll = !/^Driver: +docker$/m.test(builder) && platforms.every((platform) => builder.includes(platform));
  for (const { target, suffix, tryImage } of images) {
    const image = `model-router:${version}${suffix}`;
    const build = ['buildx', 'build', '--file', 'deploy/Dockerfile', '--target', target, '--tag', image, ...args];
    await runTool('docker', [...build, '--load', '.']);
    const printed = await runTool('docker', ['run', '--rm', image, '--version']);
    if (printed !== version) throw new Error(`the image ${image} prints the version ${printed}`);
    await tryImage(image);

    const file = join(folder, `model-router-image${suffix}-${version}.tar`);
    if (buildsAll) {
      const output = ['--platform', platforms.join(','), '--output', `type=oci,dest=${file}`];
      await runTool('docker', [...build, ...output, '.']);
    } else {
      const own = await runTool('docker', ['image', 'inspect', image, '--format', '{{.Os}}/{{.Architecture}}']);
      notes.add(`The builder of this machine makes one architecture: the images are for ${own} alone.`);
      await runTool('docker', ['save', '--output', file, image]);
    }
    await runTool('gzip', ['--force', file]);

    const list = join(folder, `model-router-image${suffix}-${version}.cdx.json`);
    if (await hasTool('syft', 'version')) await runTool('syft', [image, '--output', `cyclonedx-json=${list}`]);
    else notes.add('syft is missing here: the release has no list of what is in the images.');
  }
  return [...notes];
}

/** Starts a part that needs nothing else, until its own health check passes. */
async function tryPart(image: string): Promise<void> {
  const settings = ['--env', 'PORT=8000', '--env', 'HEALTH_URL=http://127.0.0.1:8000/health'];
  await withContainer([...settings, image, 'demo-engine'], async (container) => {
    const format = ['--format', '{{.State.Health.Status}}'];
    await until(async () => (await runTool('docker', ['inspect', container, ...format])) === 'healthy', startMs);
  });
}

/** Starts a whole router without any data, and asks it for an answer. */
async function tryRouter(image: string): Promise<void> {
  await withContainer(['--publish', '127.0.0.1::8484', image], async (container) => {
    let key: string | undefined;
    await until(async () => {
      key = /Your router key: (\S+)/.exec(await runTool('docker', ['logs', container]))?.[1];
      return key !== undefined;
    }, startMs);
    const address = await runTool('docker', ['port', container, '8484/tcp']);
    await until(() => askForAnswer(`http://${address.split('\n')[0]}`, key ?? ''), startMs);
  });
}

/** Runs a container while a function uses it. An error has the end of the container's log. */
async function withContainer(args: readonly string[], use: (container: string) => Promise<void>): Promise<void> {
  const container = await runTool('docker', ['run', '--detach', ...args]);
  try {
    await use(container);
  } catch (error) {
    const log = await runTool('docker', ['logs', '--tail', '20', container]);
    throw new Error(`${args.join(' ')} does not start: ${log}`, { cause: error });
  } finally {
    await runTool('docker', ['rm', '--force', '--volumes', container]);
  }
}
