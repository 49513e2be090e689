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
    'internal error; see the log of the service',
    'Nothing was changed. Give the operator the X-Request-Id of the answer: it finds the cause in the log.',
  ),
  'internal.file_missing': internal(
    'the file is missing in the file store',
    'The operator restores the file from a backup; `fieldtrace verify` lists what is missing.',
  ),

  // Values that a schema refuses.
  'validation.required': invalid('{field} is required'),
  'validation.empty': invalid('{field} must NOT have fewer than 1 characters'),
  'validation.blank': invalid('{field} must match pattern "{pattern}"'),
  'validation.too_short': invalid('{field} must NOT have fewer than {min} characters'),
  'validation.too_long': invalid('{field} must NOT have more than {max} characters'),
  'validation.too_few_items': invalid('{field} must NOT have fewer than {min} items'),
  'validation.too_many_items': invalid('{field} must NOT have more than {max} items'),
  'validation.too_few_members': invalid('{field} must NOT have fewer than {min} properties'),
  'validation.too_many_members': invalid('{field} must NOT have more than {max} properties'),
  'validation.duplicate_items': invalid(
    '{field} must NOT have duplicate items (items ## {second} and {first} are identical)',
  ),
  'validation.too_small': invalid('{field} must be >= {min}'),
  'validation.too_large': invalid('{field} must be <= {max}'),
  'validation.not_above': invalid('{field} must be > {limit}'),
  'validation.not_below': invalid('{field} must be < {limit}'),
  'validation.choice': invalid('{field} must be one of {choices}'),
  'validation.string': invalid('{field} must be {type}'),
  'validation.integer': invalid('{field} must be {type}'),
  'validation.number': invalid('{field} must be {type}'),
  'validation.boolean': invalid('{field} must be {type}'),
  'validation.type': invalid('{field} must be {type}'),
  'validation.digits': invalid('{field} must be a whole number, written in digits'),
  'validation.country': invalid(
    '{field} must match pattern "{pattern}"',
    'Send an ISO 3166-1 alpha-2 code, such as RW.',
  ),
  'validation.currency': invalid(
    '{field} must match pattern "{pattern}"',
    'Send an ISO 4217 code, such as USD.',
  ),
  'validation.language': invalid('{field} must match pattern "{pattern}"', 'Send a BCP 47 tag, such as en.'),
  'validation.date': invalid('{field} must match pattern "{pattern}"', 'Send an ISO 8601 date or date-time.'),
  'validation.decimal': invalid(
    '{field} must match pattern "{pattern}"',
    'Send digits with a decimal point.',
  ),
  'validation.pattern': invalid('{field} must match pattern "{pattern}"'),
  'validation.nul': invalid('{field} must not hold the character U+0000'),
  'validation.schema': invalid('{field} {message}'),
  'validation.key': invalid('{field}: the key {key} must be {description}'),
  'validation.unknown_field': invalid('{subject} is not a field here; there are {known}'),
  'validation.misspelt_field': invalid('{subject} is not a field here; did you mean {nearest}?'),
  'validation.no_fields': invalid('{subject} is not a field here; there is none'),
  'validation.unknown_parameter': invalid('{field} is not a query parameter here; there are {known}'),
  'validation.misspelt_parameter': invalid('{field} is not a query parameter here; did you mean {nearest}?'),
  'validation.no_parameters': invalid('{field} is not a query parameter here; there is none'),

  // Bodies that cannot be read.
  'body.not_utf8': unreadable('the body is not valid UTF-8'),
  'body.not_json': unreadable('the body is not valid JSON: {message}'),
  'body.too_deep': unreadable('{path}: nested deeper than {max} levels'),
  'body.too_many_values': unreadable('{path}: the body has more than {max} values'),
  'body.too_many_containers': unreadable('{path}: the body has more than {max} arrays and objects'),
  'body.inexact_number': unreadable(
    '{path}: {number} is not a number that a double holds exactly',
    'Send the number as a string, or with fewer digits.',
  ),
  'body.nul': unreadable('{path}: holds the character U+0000'),
  'body.half_surrogate': unreadable('{path}: holds half of a surrogate pair'),
  'body.not_decodable': unreadable('the body is not valid {encoding}, as Content-Encoding says'),
  'body.too_large': tooLarge('the body is too large for this endpoint'),
  'body.too_large_decoded': tooLarge('the body is larger than {max} bytes without its Content-Encoding'),
  'body.unknown_encoding': unsupportedMediaType('Content-Encoding must be one of {choices}'),
  'body.encoding_refused': unsupportedMediaType(
    'Content-Encoding is not taken here: files are kept as they are sent',
  ),
  'body.not_json_type': unsupportedMediaType('Content-Type must be application/json'),
  'body.refused_size': tooLarge('{message}'),
  'body.refused_type': unsupportedMediaType('{message}'),
  'body.incomplete_form': unreadable('the body is not a complete multipart form'),
  'body.not_form': unsupportedMediaType('Content-Type must be multipart/form-data'),
  'body.wrong_length': invalid('Content-Length does not match the body'),

  // Requests that no route takes.
  'request.not_http': invalid('the request is not valid HTTP'),
  'request.bad_url': invalid('the path is not a valid URL'),
  'request.refused': invalid('{message}'),
  'request.headers_too_large': headersTooLarge('the request headers are larger than 16 KiB'),
  'request.too_slow': requestTimeout(
    'the request arrives too slowly: less than 1 KiB a second of a body, or headers that take a minute',
  ),
  'request.client_gone': requestTimeout('the client is gone'),
  'request.no_host': invalid('the header Host is required'),
  'request.unknown_host': misdirected(
    'the name in Host is not allowed; add it to ALLOWED_HOSTS if this service has that name',
  ),
  'request.not_acceptable': notAcceptable('Accept excludes every media type of this answer: {types}'),
  'request.unknown_path': notFound('there is nothing at {path}'),
  'request.wrong_method': methodNotAllowed('{path} takes {methods}, not {method}'),

  // Tokens of the caller.
  'token.expired': unauthenticated(
    'the token has expired',
    'Ask the identity provider for another, or log in again.',
  ),
  'token.invalid': unauthenticated('the token is not valid'),
  'token.other_kind': unauthenticated('the token is not an access token'),
  'key.invalid': unauthenticated('the key is unknown, expired or revoked'),
  'key.not_enough': forbidden('a key for programs cannot do this: log in'),
  'key.lacks_scope': forbidden('the key lacks the scope {scope}: create one that has it'),
  'user.not_system_admin': forbidden('this is for a SYSTEM_ADMIN'),
  'metrics.no_token': unauthenticated('this needs METRICS_TOKEN: Authorization: Bearer …'),

  // Limits.
  'limit.requests': tooManyRequests('too many requests from this address; try again in {seconds} s'),
  'limit.open_of_user': tooManyRequests(
    'this user has reached the limit of {max} open {what}; try again when one has ended',
  ),
  'limit.open_of_address': tooManyRequests(
    'this address has reached the limit of {max} open {what}; try again when one has ended',
  ),

  'limit.places_without_token': unavailable(
    'too many {what} without a token run at the same time; try again, or send a token',
  ),

  // What passes.
  'service.stopping': unavailable('the service is stopping'),
  'service.restarting': unavailable('the service is stopping; try again'),
  'service.large_answers': unavailable('too many large answers are being read; try again'),
  'service.large_bodies': unavailable('too many large bodies are being processed; send it again'),
  'service.jobs_not_open': unavailable('the job queue could not be opened yet; try again'),
  'database.away': unavailable('the database does not answer; try again'),
  'database.busy': unavailable('the database has no capacity for now; try again'),
  'database.conflict': unavailable('the change conflicts with a concurrent one; try again'),
  'database.full': unavailable(
    'the database has no disk space left; try again',
    'The operator frees disk space. Reading goes on meanwhile.',
  ),
  'database.read_only': unavailable('the database accepts no writes for now; try again'),
  'file_store.away': unavailable('the file store does not answer; try again'),
  'file_store.full': unavailable('the file store has no space left; try again'),
  'issuer.away': unavailable("the token cannot be checked: its issuer's keys cannot be fetched"),
  'upstream.down': unavailable('{system} is down'),
  'upstream.slow': unavailable('{system} did not answer in time'),
  'upstream.unreachable': unavailable('{system} could not be reached ({error})'),
  'upstream.failed': unavailable('{system} answered {status}'),
  'upstream.answer_too_large': unavailable('{system} answered with more than {max} bytes'),
  'upstream.not_json': unavailable('{system} answered {status} with something that is not JSON'),
  'upstream.busy': unavailable('too many requests are waiting for {system}'),
};
