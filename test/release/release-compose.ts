import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findImages, pinImages } from './pin-images.ts';
import { hasTool, runTool } from './run-tool.ts';

/** The files that the Compose file mounts. */
const mounted = ['compose', 'observability'];

/**
 * Packs the Compose file with the files that it mounts, and lets Compose read it.
 * @returns sentences about what this machine could not do
 */
export async function releaseCompose(folder: string, version: string): Promise<string[]> {
  const compose = readFileSync('docker-compose.yml', 'utf8');
  const digests = new Map<string, string>();
  const unknown: string[] = [];
  for (const name of findImages(compose)) {
    const args = ['buildx', 'imagetools', 'inspect', name, '--format', '{{.Manifest.Digest}}'];
    await runTool('docker', args).then(
      (digest) => digests.set(name, digest),
      () => unknown.push(name),
    );
  }
  const notes =
    unknown.length > 0
      ? [`The digests of ${unknown.join(', ')} are unknown here: the Compose file has their tags.`]
      : [];
  const name = `model-router-compose-${version}`;
  const work = mkdtempSync(join(tmpdir(), 'rtr-compose-'));
  try {
    const content = join(work, name);
    for (const part of mounted)
      cpSync(join('deploy', part), join(content, 'deploy', part), {
        recursive: true,
        filter: (file) => !file.endsWith('.ts'),
      });
    const file = join(content, 'docker-compose.yml');
    writeFileSync(file, pinImages(compose, version, digests));
    writeFileSync(join(folder, 'docker-compose.yml'), readFileSync(file));
    if (await hasTool('docker', 'compose', 'version'))
      await runTool('docker', ['compose', '--file', file, 'config', '--quiet']);
    else notes.push('Docker Compose is missing here: it has not read the Compose file.');
    await runTool('tar', ['--create', '--gzip', '--file', join(folder, `${name}.tar.gz`), '--directory', work, name]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return notes;
}
