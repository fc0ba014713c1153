import manifest from '../../package.json' with { type: 'json' };

/** The release of this code, from the package's manifest. */
export const { version } = manifest;
