import { join } from 'node:path';
import { until } from '../helpers/until.ts';
import { hasTool, runTool } from './run-tool.ts';

/** The architectures of a release's image. */
const platforms = ['linux/amd64', 'linux/arm64'];

/**
 * Builds the image, starts this machine's variant from an empty state, and saves it with all architectures that the builder can make.
 * @returns sentences about what this machine could not do
 */
export async function releaseImage(folder: string, version: string): Promise<string[]> {
  const notes: string[] = [];
  const image = `model-router:${version}`;
  const revision = await runTool('git', ['rev-parse', 'HEAD']);
  const build = [
    '--file',
    'deploy/Dockerfile',
    '--build-arg',
    `VERSION=${version}`,
    '--build-arg',
    `REVISION=${revision}`,
  ];
  const bases = ['NODE_IMAGE', 'NPM_CONFIG_REGISTRY'].filter((name) => process.env[name] !== undefined);
  for (const name of bases) build.push('--build-arg', name);
  await runTool('docker', ['buildx', 'build', ...build, '--load', '--tag', image, '.']);
  await tryImage(image, version);

  const file = join(folder, `model-router-image-${version}.tar`);
  const builder = await runTool('docker', ['buildx', 'inspect', '--bootstrap']);
  if (!builder.includes('Driver:           docker\n') && platforms.every((platform) => builder.includes(platform))) {
    const output = ['--platform', platforms.join(','), '--sbom=true', '--output', `type=oci,dest=${file}`];
    await runTool('docker', ['buildx', 'build', ...build, ...output, '.']);
  } else {
    const own = await runTool('docker', ['image', 'inspect', image, '--format', '{{.Os}}/{{.Architecture}}']);
    notes.push(`The builder of this machine makes one architecture: the image is for ${own} alone.`);
    await runTool('docker', ['save', '--output', file, image]);
  }
  await runTool('gzip', ['--force', file]);

  const list = join(folder, `model-router-image-${version}.cdx.json`);
  if (await hasTool('syft', 'version')) await runTool('syft', [image, '--output', `cyclonedx-json=${list}`]);
  else notes.push('syft is missing here: the release has no list of what is in the image.');
  return notes;
}

/** Starts a part of the image that needs nothing else, until its own health check passes. */
async function tryImage(image: string, version: string): Promise<void> {
  const printed = await runTool('docker', ['run', '--rm', image, '--version']);
  if (printed !== version) throw new Error(`the image prints the version ${printed}`);
  const container = await runTool('docker', ['run', '--detach', image, 'demo-engine']);
  try {
    await until(async () => {
      const state = await runTool('docker', [
        'inspect',
        container,
        '--format',
        '{{.State.Status}} {{.State.Health.Status}}',
      ]);
      if (state.startsWith('exited'))
        throw new Error(`the image does not start: ${await runTool('docker', ['logs', container])}`);
      return state === 'running healthy';
    }, 120_000);
  } finally {
    await runTool('docker', ['rm', '--force', container]);
  }
}
