import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findGpus } from '#services/rtr/box/find-gpus.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

/** Finds GPUs with these programs on the PATH, each of which prints a text. */
function findWith(programs: Record<string, string>): Promise<string[]> {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s' '${text}'\n`, { mode: 0o755 });
  return findGpus({ PATH: folder });
}

it('GPUs are found with the programs of their drivers', async () => {
  const nvidia = 'NVIDIA GeForce RTX 4090, 24564\nNVIDIA H100 80GB HBM3, 81559\nNVIDIA GB10, [N/A]\n';
  const amd = JSON.stringify({
    card0: { 'Card Series': 'AMD Radeon RX 7900 XTX', 'VRAM Total Memory (B)': '25753026560' },
    system: { 'Driver version': '6.7' },
  });
  expect(await findWith({ 'nvidia-smi': nvidia, 'rocm-smi': amd })).toEqual([
    'NVIDIA GeForce RTX 4090, 24 GiB',
    'NVIDIA H100 80GB HBM3, 80 GiB',
    'NVIDIA GB10',
    'AMD Radeon RX 7900 XTX, 24 GiB',
  ]);
});

it('none is found without these programs, or if they fail', async () => {
  expect(await findWith({})).toEqual([]);
  expect(await findWith({ 'nvidia-smi': 'NVIDIA-SMI has failed', 'rocm-smi': 'WARNING: no GPU' })).toEqual([]);
});
