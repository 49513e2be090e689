import {
  forbidden,
  headersTooLarge,
  internal,
  invalid,
  methodNotAllowed,
  misdirected,
  notAcceptable,
  notFound,
  requestTimeout,
  tooLarge,
  tooManyRequests,
  unauthenticated,
  unavailable,
  unreadable,
  unsupportedMediaType,
} from './reason.ts';

/** The reasons that both services and the console have in common. */
export const platformReasons = {
  'internal.unexpected': internal(
    "internal error; the service's log has the cause",
    'Nothing was changed. Give the operator the X-Request-Id of the response, which finds the cause in the log.',
  ),
  'internal.file_missing': internal(
    'the file is missing from the file store',
    'The operator restores the file from a backup; `fieldtrace verify` lists missing files.',
  ),

  // Values that a schema refuses.
  'validation.required': invalid('{field} is required'),
  'validation.empty': invalid('{field} must not be empty'),
  'validation.blank': invalid('{field} must not be blank'),
  'validation.too_short': invalid('{field} must have at least {min} characters'),
  'validation.too_long': invalid('{field} must have at most {max} characters'),
  'validation.too_few_items': invalid('{field} must have at least {min} items'),
  'validation.too_many_items': invalid('{field} must have at most {max} items'),
  'validation.too_few_members': invalid('{field} must have at least {min} properties'),
  'validation.too_many_members': invalid('{field} must have at most {max} properties'),
  'validation.duplicate_items': invalid(
    '{field} must not have duplicates: items [{first}] and [{second}] are identical',
  ),
  'validation.too_small': invalid('{field} must be at least {min}'),
  'validation.too_large': invalid('{field} must be at most {max}'),
  'validation.not_above': invalid('{field} must be greater than {limit}'),
  'validation.not_below': invalid('{field} must be less than {limit}'),
  'validation.choice': invalid('{field} must be one of {choices}'),
  'validation.string': invalid('{field} must be {type}'),
  'validation.integer': invalid('{field} must be {type}'),
  'validation.number': invalid('{field} must be {type}'),
  'validation.boolean': invalid('{field} must be {type}'),
  'validation.type': invalid('{field} must be {type}'),
  'validation.digits': invalid('{field} must be a whole number written in digits'),
  'validation.country': invalid(
    '{field} must be an ISO 3166-1 alpha-2 country code, such as RW (pattern {pattern})',
  ),
  'validation.currency': invalid(
    '{field} must be an ISO 4217 currency code, such as USD (pattern {pattern})',
  ),
  'validation.language': invalid('{field} must be a BCP 47 language tag, such as en (pattern {pattern})'),
  'validation.date': invalid('{field} must be an ISO 8601 date or date-time (pattern {pattern})'),
  'validation.decimal': invalid(
    '{field} must be a number in digits with a decimal point (pattern {pattern})',
  ),
  'validation.pattern': invalid('{field} must match the pattern {pattern}'),
  'validation.nul': invalid('{field} must not contain the character U+0000'),
  'validation.schema': invalid('{field} {message}'),
  'validation.key': invalid('{field}: the key {key} must be {description}'),
  'validation.unknown_field': invalid('{subject} is not a known field; allowed fields: {known}'),
  'validation.misspelt_field': invalid('{subject} is not a known field; did you mean {nearest}?'),
  'validation.no_fields': invalid('{subject} is not a known field; no fields are allowed here'),
  'validation.unknown_parameter': invalid(
    '{field} is not a known query parameter; allowed parameters: {known}',
  ),
  'validation.misspelt_parameter': invalid('{field} is not a known query parameter; did you mean {nearest}?'),
  'validation.no_parameters': invalid('{field} is not a known query parameter; this endpoint has none'),

  // Bodies that cannot be read.
  'body.not_utf8': unreadable('the body is not valid UTF-8'),
  'body.not_json': unreadable('the body is not valid JSON: {message}'),
  'body.too_deep': unreadable('{path}: nested more than {max} levels deep'),
  'body.too_many_values': unreadable('{path}: the body has more than {max} values'),
  'body.too_many_containers': unreadable('{path}: the body has more than {max} arrays and objects'),
  'body.inexact_number': unreadable(
    '{path}: a double cannot hold {number} exactly',
    'Send the number as a string, or with fewer digits.',
  ),
  'body.nul': unreadable('{path}: contains the character U+0000'),
  'body.half_surrogate': unreadable('{path}: contains half of a surrogate pair'),
  'body.not_decodable': unreadable('Content-Encoding says {encoding}, but the body is not valid {encoding}'),
  'body.too_large': tooLarge('the body is too large for this endpoint'),
  'body.too_large_decoded': tooLarge('the body is larger than {max} bytes after decompression'),
  'body.unknown_encoding': unsupportedMediaType(
    'Content-Encoding must be one of {choices}',
    'Compress the body in one of these ways, or not at all.',
  ),
  'body.encoding_refused': unsupportedMediaType(
    'Content-Encoding is not accepted here: files are stored as they are sent',
    'Send the file without Content-Encoding.',
  ),
  'body.not_json_type': unsupportedMediaType('Content-Type must be application/json'),
  'body.refused_size': tooLarge('{message}'),
  'body.refused_type': unsupportedMediaType('{message}'),
  'body.incomplete_form': unreadable('the multipart form in the body is incomplete'),
  'body.not_form': unsupportedMediaType('Content-Type must be multipart/form-data'),
  'body.wrong_length': invalid('Content-Length does not match the body'),

  // Requests that no route takes.
  'request.not_http': invalid('the request is not valid HTTP'),
  'request.bad_url': invalid('the path is not a valid URL'),
  'request.refused': invalid('{message}'),
  'request.headers_too_large': headersTooLarge('the request headers are larger than 16 KiB'),
  'request.too_slow': requestTimeout(
    'the request is too slow: headers must arrive within a minute, and bodies at 1 KiB per second or faster',
  ),
  'request.client_gone': requestTimeout('the client closed the connection'),
  'request.no_host': invalid('the Host header is required'),
  'request.unknown_host': misdirected(
    'the name in the Host header is not allowed; if it is a name of this service, add it to ALLOWED_HOSTS',
  ),
  'request.not_acceptable': notAcceptable('Accept excludes every media type of this response: {types}'),
  'request.unknown_path': notFound('nothing found at {path}', 'Check the path in the definition.'),
  'request.wrong_method': methodNotAllowed('{path} supports {methods}, not {method}'),

  // Tokens of the caller.
  'token.expired': unauthenticated(
    'the token has expired',
    'Get a new token from the identity provider, or log in again.',
  ),
  'token.invalid': unauthenticated('the token is not valid'),
  'token.other_kind': unauthenticated(
    'the token is not an access token',
    'Send the access token, not the ID or refresh token.',
  ),
  'key.invalid': unauthenticated('the API key is unknown, expired or revoked', 'Create a new key.'),
  'key.not_enough': forbidden(
    'API keys cannot do this: log in instead',
    'Log in, and send the access token.',
  ),
  'key.lacks_scope': forbidden(
    'the API key lacks the scope {scope}: create a key that has it',
    'Create a key with this scope.',
  ),
  'user.not_system_admin': forbidden('only a SYSTEM_ADMIN can do this', 'Ask a SYSTEM_ADMIN.'),
  'metrics.no_token': unauthenticated(
    'METRICS_TOKEN is required: send Authorization: Bearer …',
    'Send the token of METRICS_TOKEN.',
  ),

  // Limits.
  'limit.requests': tooManyRequests('too many requests from this address; try again in {seconds} s'),
  'limit.open_of_user': tooManyRequests(
    'this user has reached the limit of {max} open {what}; try again when one has ended',
  ),
  'limit.open_of_address': tooManyRequests(
    'this address has reached the limit of {max} open {what}; try again when one has ended',
  ),

  'limit.places_without_token': unavailable(
    'too many {what} are running without a token; try again, or send a token',
  ),

  // Temporary failures.
  'service.stopping': unavailable('the service is stopping'),
  'service.restarting': unavailable('the service is stopping; try again'),
  'service.large_answers': unavailable('too many large responses are being read; try again'),
  'service.large_bodies': unavailable('too many large bodies are being processed; send it again'),
  'service.jobs_not_open': unavailable('the job queue is not open yet; try again'),
  'database.away': unavailable('the database is not responding; try again'),
  'database.busy': unavailable('the database is at capacity; try again'),
  'database.conflict': unavailable('the change conflicts with a concurrent change; try again'),
  'database.full': unavailable(
    'the database has no disk space left; try again',
    'The operator frees disk space. Reading still works.',
  ),
  'database.read_only': unavailable(
    'the database is not accepting writes; try again',
    'Send the request again later. Reading still works.',
  ),
  'file_store.away': unavailable('the file store is not responding; try again'),
  'file_store.full': unavailable(
    'the file store has no space left; try again',
    'The operator frees space. Reading still works.',
  ),
  'issuer.away': unavailable("the token cannot be checked: its issuer's keys cannot be fetched; try again"),
  'upstream.down': unavailable('{system} is down'),
  'upstream.slow': unavailable('{system} did not respond in time'),
  'upstream.unreachable': unavailable('{system} could not be reached ({error})'),
  'upstream.failed': unavailable('{system} returned {status}'),
  'upstream.answer_too_large': unavailable('{system} sent more than {max} bytes'),
  'upstream.not_json': unavailable('{system} returned {status} with a body that is not JSON'),
  'upstream.busy': unavailable('too many requests are waiting for {system}'),
};
