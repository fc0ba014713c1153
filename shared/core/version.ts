import manifest from '../../package.json' with { type: 'json' };

/** The release of this code, as the package's manifest has it. */
export const { version } = manifest;
