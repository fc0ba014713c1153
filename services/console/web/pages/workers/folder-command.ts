/**
 * The command that starts a worker without a credential, in the folder of a router that `rtr up` has started. It is in a file of its own,
 * so that a test can run what the page shows.
 */
export const folderCommand = 'ENGINE_URL=http://127.0.0.1:8000 rtr worker gpu';
