import { buildPrograms } from '#services/rtr/build/build-programs.ts';
import { buildImage } from '../helpers/compose/build-image.ts';
import { dockerAnswers } from '../helpers/servers/docker-answers.ts';

/** Builds the image that the containers of these tests run. Without Docker they are skipped. */
export async function setup(): Promise<void> {
  if (await dockerAnswers()) await Promise.all([buildImage(), buildPrograms(process.cwd())]);
}
