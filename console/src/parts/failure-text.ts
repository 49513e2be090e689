import { connection } from '../api/connection.svelte.ts';
import { Failure } from '../api/failure.ts';
import { t } from '../messages/messages.svelte.ts';

/** What a failure says to a person. */
export function failureText(failure: unknown): string {
  // Files of a screen that were not loaded before are missing without a connection.
  if (!(failure instanceof Failure))
    return t(connection.isLost ? 'common.failed.offline' : 'common.failed.unknown');
  if (failure.status === 0) return t('common.failed.offline');
  if (failure.status === 403) return t('common.failed.forbidden', { message: failure.message });
  if (failure.status === 429 || failure.status === 503) {
    return failure.retryAfter === undefined
      ? t('common.failed.busy', { message: failure.message })
      : t('common.failed.later', { message: failure.message, seconds: failure.retryAfter });
  }
  return failure.message;
}
