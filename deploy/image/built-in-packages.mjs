import manifest from '../../package.json' with { type: 'json' };
import { packagesBeside } from '../../services/rtr/build/programs.ts';

/*
 * Prints the packages that are built into the programs and pages, or only build them. They can be removed after the build.
 */

const names = Object.keys(manifest.dependencies).filter((name) => !packagesBeside.includes(name));
process.stdout.write(`${names.join(' ')}\n`);
