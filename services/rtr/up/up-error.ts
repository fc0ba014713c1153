/** Why a cluster cannot be started or kept up. The message is fit to be shown as it is. */
export class UpError extends Error {
  override name = 'UpError';
}
