import manifest from '../../package.json' with { type: 'json' };
import { externalPackages } from '../../services/rtr/build/programs.ts';

/*
 * Prints the packages that can be removed after the build: they are bundled into the programs and pages, or were needed only to build them.
 */

const packages = Object.keys(manifest.dependencies).filter((name) => !externalPackages.includes(name));
process.stdout.write(`${packages.join(' ')}\n`);
