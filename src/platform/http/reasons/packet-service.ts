import {
  conflict,
  forbidden,
  gone,
  internal,
  invalid,
  notFound,
  notImplemented,
  preconditionFailed,
  rangeNotSatisfiable,
  tooLarge,
  tooManyRequests,
  unauthenticated,
  unavailable,
  unsupportedMediaType,
} from './reason.ts';

/** How a resolution fails that the asset registry does not decide. */
const UNDECIDED = '{field}: GeoID resolution failed for now; try again later: the asset registry' as const;
/** The operator's action. */
const CHECK_REGISTRY = 'The operator checks the settings ASSET_REGISTRY_URL and ASSET_REGISTRY_TOKEN.';

/** The reasons of the packet service. */
export const packetReasons = {
  // core: callers, their tokens and keys
  'token.missing': unauthenticated('a token is required: send Authorization: Bearer …'),
  'token.not_checkable': unauthenticated(
    'tokens cannot be checked: no key is configured',
    'The operator sets USER_REGISTRY_JWT_SECRET or USER_REGISTRY_JWKS_URL.',
  ),
  'token.malformed': unauthenticated('the Authorization header must be: Bearer <token>'),
  'token.wrong_type': unauthenticated(
    'the token has type {type}; an access token is required',
    'Send the access token.',
  ),
  'token.session_ended': unauthenticated("the token's session has ended; log in again"),
  'token.second_factor_missing': unauthenticated(
    "the user's role requires a second factor: set one up in the trace backend, or log in with its code",
    'Set up a second factor, or log in with its code.',
  ),
  'token.user_not_activated': unauthenticated(
    "the token's user is not activated",
    'Ask an administrator to activate the account.',
  ),
  'token.without_user': unauthenticated(
    'the token has no user: the claim sub is missing',
    'The operator of the identity provider adds the claim sub.',
  ),
  'key.not_checkable': unauthenticated(
    'API keys cannot be checked: no user registry is configured',
    'The operator sets USER_REGISTRY_URL.',
  ),
  'key.second_factor_missing': unauthenticated(
    "the user's role requires a second factor, and this API key was created without one: log in with a second factor and create another key",
    'Log in with a second factor, and create another key.',
  ),
  'key.registry_answer_unusable': unavailable(
    'the API key cannot be checked: the user registry gave no usable response',
    'The operator checks the setting SERVICE_TOKEN.',
  ),
  'user.not_of_token': forbidden(
    "{field} must be the token's user",
    'Send the token of this user, or leave the field out.',
  ),
  'user.has_tokens': forbidden(
    '{field} belongs to a registered user: send their token',
    "Send this user's token.",
  ),
  // core: values of requests
  'validation.unknown_cursor': invalid('cursor must be the next_cursor of a previous page'),
  'validation.no_date_time_or_date': invalid('{field} must be an ISO 8601 date-time or date'),
  'timestamp.malformed': invalid('{field} must be an ISO 8601 date-time such as 2026-03-01T08:15:00Z'),
  'timestamp.without_offset': invalid('{field} must be an ISO 8601 date-time with its UTC offset'),
  'idempotency_key.answer_erased': gone(
    'the request with Idempotency-Key "{key}" created something that has since been erased',
    'Nothing can be done: the packet must not come back.',
  ),
  'idempotency_key.other_body': conflict(
    'Idempotency-Key "{key}" was already used with another body',
    'Use a new key for each new body.',
  ),
  // core: fields and GeoIDs
  'field.registered_elsewhere': notImplemented(
    'this installation uses an asset registry; register fields there',
  ),
  'field.too_many_boundaries': unavailable('too many large boundaries are waiting to be read; try again'),
  'field.not_feature_or_collection': invalid('type must be Feature or FeatureCollection'),
  'field.wrong_feature_count': invalid('features must be an array of 1 to {max} Features'),
  'field.not_feature': invalid('{field} must be Feature'),
  'field.not_object': invalid('{field} must be an object'),
  'field.wrong_name': invalid('{field} must be a string of at most {max} characters'),
  'field.wrong_names_query': invalid('send either geoids or name in the query'),
  'field.unknown': notFound('field {geoid} not found'),
  'field.inside_foreign': forbidden(
    '{which} is inside field {geoid}, which another user registered',
    'Use the existing field, or ask its owner or an administrator.',
  ),
  'field.takes_half_of_foreign': forbidden(
    '{which} and other fields would take more than half of field {geoid}, which another user registered',
    'Register a smaller field, or ask the owner of the other one or an administrator.',
  ),
  'field.too_many_around_foreign': forbidden(
    '{which} takes part of field {geoid}, which another user registered, and too many fields surround it to measure what would be left',
    'Register a field that takes no part of it, or ask an administrator.',
  ),
  'field.inside_needs_token': unauthenticated(
    '{which} is inside field {geoid}, which was created with a token: send Authorization: Bearer …',
  ),
  'field.overlap_needs_token': unauthenticated(
    '{which} is partly inside field {geoid}, which was created with a token: send Authorization: Bearer …',
  ),
  'field.no_geoid_left': conflict(
    'no GeoID is left for this boundary: fields of other shapes use all of them',
    'Register a slightly different boundary.',
  ),
  'field.has_packets': conflict(
    'field {geoid} cannot be deleted: packets refer to it',
    'Keep the field: packets need it as evidence.',
  ),
  'field.not_own': forbidden(
    'only the user who registered field {geoid}, or an administrator, can delete it',
    'Ask this user or an administrator.',
  ),
  'field.needs_token': unauthenticated(
    'field {geoid} was created with a token: send Authorization: Bearer …',
  ),
  'geoid.point_off_globe': invalid('{field} must have lat from -90 to 90 and lon from -180 to 180'),
  'geoid.point_outside_fields': invalid(
    '{field}: GeoID resolution failed: the point is not in a registered field',
    'Register the field first, or check the position.',
  ),
  'geoid.polygon_outside_fields': invalid(
    '{field}: GeoID resolution failed: the polygon is not in a registered field',
    'Register the field first, or check the area.',
  ),
  'geoid.refused_by_registry': invalid(
    '{field}: GeoID resolution failed: the asset registry says: {message}',
  ),
  'field.too_many_registrations': unavailable('too many requests are waiting to register fields; try again'),
  'upload.too_many': unavailable('{max} uploads are already in progress; try again'),
  'geoid.registry_away': invalid(
    '{field}: GeoID resolution failed for now; try again later: {trouble}',
    'Send the same request again later.',
  ),
  'geoid.registry_refuses_token': invalid(`${UNDECIDED} rejected our token`, CHECK_REGISTRY),
  'geoid.registry_answers_status': invalid(
    `${UNDECIDED} returned {status}; is its address right?`,
    CHECK_REGISTRY,
  ),
  'geoid.registry_answer_of_other_shape': invalid(`${UNDECIDED} sent an unexpected response`, CHECK_REGISTRY),
  'geoid.registry_geoids_of_other_form': invalid(`${UNDECIDED} sent malformed GeoIDs`, CHECK_REGISTRY),
  'geoid.registry_geoid_of_other_form': invalid(`${UNDECIDED} sent a malformed GeoID`, CHECK_REGISTRY),
  'geoid.registry_fields_of_other_shape': invalid(
    `${UNDECIDED} sent an unexpected list of fields`,
    CHECK_REGISTRY,
  ),
  'geoid.registry_field_of_other_shape': invalid(`${UNDECIDED} sent an unexpected field`, CHECK_REGISTRY),
  // core: packets and their log
  'packet.unknown': notFound('packet {id} not found'),
  'packet.erased': gone('packet {id} was erased on {date}; /packets/{id}/verify has its Header and hash'),
  'packet.needs_token': unauthenticated(
    "this packet's thread was created with a token: send Authorization: Bearer …",
  ),
  'packet.of_foreign_thread': forbidden(
    "only participants of this packet's thread can read it",
    'Ask a participant to add you to the thread.',
  ),
  'packet.too_large': tooLarge(
    'the packet is larger than {max} bytes of JSON',
    'Send less text, and files as attachments.',
  ),
  'packet.near_malformed': invalid('near must be lat,lon,metres'),
  'packet.near_out_of_range': invalid('near must have a valid latitude and longitude, and 0 to {max} metres'),
  'packet.arrivals_before_1970': invalid('from must be in 1970 or later'),
  'packet.too_many_waiting': unavailable('too many packets are waiting to be written; nothing was stored'),
  'packet.not_storable': internal(
    'the packet could not be stored',
    'Nothing was changed. Give the operator the X-Request-Id of the response.',
  ),
  'packet.no_disk_space': unavailable(
    'the database has no disk space left; send the packet again',
    'The operator frees disk space. Reading still works.',
  ),
  'packet.database_read_only': unavailable('the database is not accepting writes; send the packet again'),
  'packet.not_stored_in_time': unavailable(
    'the database is not responding and nothing was stored; send the packet again',
  ),
  'packet.perhaps_stored': unavailable(
    'the database is not responding and the packet may have been stored; send it again',
    'Use the same Idempotency-Key or the same Header.id: the packet is stored only once.',
  ),
  'export.too_many': unavailable('too many exports are running; try again'),
  'log.other': conflict(
    '{field} belongs to another log, perhaps from before a backup was restored; start over without it',
    'Start over without the cursor.',
  ),
  'log.just_replaced': unavailable('the log was just replaced; try again'),
  // collaboration: chat
  'message.empty': invalid('text must not be empty unless there are attachments'),
  'message.too_long': invalid('{field} is longer than {max} Unicode characters'),
  'thread.unknown': notFound('thread {id} not found'),
  'thread.needs_token': unauthenticated('thread {id} was created with a token: send Authorization: Bearer …'),
  'thread.user_not_participant': forbidden(
    '{field} is not a participant of thread {id}',
    'Add the user to the thread first.',
  ),
  'thread.caller_not_participant': forbidden(
    "the token's user is not a participant of thread {id}",
    'Ask a participant to add you.',
  ),
  'thread.left': notFound(
    '{user} is no longer a participant of the thread',
    'Ask a participant to add the user again.',
  ),
  'thread.unknown_message': invalid('message_id must be the packet_id of a message in the thread'),
  'participant.unknown': notFound(
    '{user} is not a participant of thread {id}',
    'Nothing: the user has already left, or was never added.',
  ),
  // collaboration: sharing
  'contact.wrong_length': invalid('{field} must have 1 to {max} characters'),
  'contact.control_character': invalid('{field} must not contain control characters'),
  'contact.nothing_to_confirm': notFound(
    'nothing to confirm; the link may have been used or expired',
    'List the contact again to get another link.',
  ),
  'contact.too_many': tooManyRequests('more than {max} different contacts in an hour; try again later'),
  'directory_entry.unknown': notFound('{user} is not in the directory'),
  'share.unknown': notFound('share {id} not found'),
  'share.needs_token': unauthenticated('share {id} was created with a token: send Authorization: Bearer …'),
  'share.not_recipient': forbidden('only the recipient can accept or reject a share', 'Ask the recipient.'),
  'share.decided': conflict(
    'share {id} was already {status}',
    'Nothing: the decision is final. Ask the sender to share the packet again.',
  ),
  'share.too_many': tooManyRequests('more than {max} shares in an hour; try again later'),
  'invitation.unknown': notFound(
    'invitation not found; it may have been used or expired',
    'Ask the sender to share it again.',
  ),
  'invitation.needs_token': unauthenticated(
    'this invitation was created with a token: send Authorization: Bearer …',
  ),
  'invitation.list_needs_token': unauthenticated(
    'listing invitations requires a token: send Authorization: Bearer …',
  ),
  'invitation.contact_not_confirmed': forbidden(
    'contact_value must be a confirmed contact of the user',
    'Confirm the contact first.',
  ),
  // intake: observations, batches and finalized packets
  'timestamp.ahead': invalid(
    "{field} is more than a day ahead of the server's clock; correct the device's clock",
    "Keep the item, and let the user correct the device's clock. The Date header has the server's time.",
  ),
  'observation.without_place': invalid('capture_point is required, or geojson instead'),
  'observation.wrong_coordinates': invalid(
    'geojson.coordinates must be longitude (-180 to 180), then latitude (-90 to 90)',
  ),
  'intake_batch.without_body': invalid('the body must be a JSON array or NDJSON'),
  'intake_batch.not_array': invalid('the body must be an array'),
  'intake_batch.incomplete_array': invalid('the body is not a complete JSON array'),
  'intake_batch.empty': invalid('the body must have 1 to {max} items; it has none'),
  'intake_batch.too_many_items': invalid(
    'the body must have 1 to {max} items; it has more',
    'Split the batch.',
  ),
  'intake_batch.item_too_large': tooLarge(
    'the item is larger than {max} bytes',
    'Send less text in the item, and files as attachments.',
  ),
  'packet.wrong_hash': invalid(
    'Footer.hash is not the hash of this Header and Body, which is {hash}',
    'Compute the hash over the canonical JSON (RFC 8785) of Header and Body.',
  ),
  'packet.wrong_enc': invalid('Footer.enc must be none or encrypted'),
  'packet.encrypted_without_jwe': invalid(
    'Footer.enc can be encrypted only if Body.jwe is a JSON Web Encryption',
  ),
  'packet.wrong_lang': invalid('Footer.lang must be a language tag (BCP 47)'),
  'packet.id_taken': conflict(
    'Header.id {id} belongs to a packet with another hash',
    'Create the packet again with a new id.',
  ),
  // intake: attachments and their uploads
  'attachment.unknown': notFound('attachment {id} not found'),
  'attachment.malformed_id': invalid('id must be att_ followed by a ULID'),
  'attachment.needs_token': unauthenticated('{id} was created with a token: send Authorization: Bearer …'),
  'attachment.not_reader': forbidden(
    '{id} can be read only by its uploader and by readers of a packet that refers to it',
    'Ask someone to share the packet with you, or to add you to its thread.',
  ),
  'attachment.range_outside': rangeNotSatisfiable('Range is outside the file, which has {size} bytes'),
  'attachment.not_one_file': invalid('file must be one file, in a form field of that name'),
  'attachment.too_large': tooLarge(
    'file is larger than {max} bytes (MAX_ATTACHMENT_BYTES)',
    'Send a smaller file, or ask the operator to raise MAX_ATTACHMENT_BYTES.',
  ),
  'attachment.id_taken': conflict('id {id} belongs to another file', 'Upload the file with a new id.'),
  'attachment.named_with_token': unauthenticated(
    "a packet sent with a token refers to {id}, so only that user's token can upload it",
  ),
  'attachment.named_by_other': forbidden(
    'only the user whose packet first referred to {id} can upload it',
    'Let that user upload the file, or upload yours with a new id.',
  ),
  'attachment.other_file': conflict(
    'the file is not {id}: the packet that refers to it expects sha256 {hash}',
    'Upload the file that the packet refers to, or upload yours with a new id.',
  ),
  'upload.unknown': notFound('upload {id} not found'),
  'upload.needs_token': unauthenticated('upload {id} was created with a token: send Authorization: Bearer …'),
  'upload.not_own': forbidden(
    'only the user who started an upload can continue it',
    'Start an upload of your own.',
  ),
  'upload.wrong_version': preconditionFailed(
    'Tus-Resumable must be {version}',
    'Send this version in Tus-Resumable.',
  ),
  'upload.wrong_content_type': unsupportedMediaType('Content-Type must be {type}', 'Send this Content-Type.'),
  'upload.malformed_metadata': invalid(
    'Upload-Metadata must be pairs of a key and a base64 value; each key can occur once',
  ),
  'upload.null_in_metadata': invalid('{key} in Upload-Metadata must not contain the character U+0000'),
  'upload.malformed_attachment_id': invalid('id in Upload-Metadata must be att_ followed by a ULID'),
  'upload.without_length': invalid('Upload-Length is required, or Upload-Defer-Length: 1 instead'),
  'upload.length_changed': invalid('Upload-Length was {length} and cannot be changed'),
  'upload.length_too_small': invalid('Upload-Length must be at least {received}, the bytes already received'),
  'upload.beyond_length': invalid('the body exceeds the {length} bytes of Upload-Length'),
  'upload.wrong_offset': conflict(
    'Upload-Offset must be {received}, where the upload ends',
    'Continue at this offset.',
  ),
  'upload.too_many_pieces': conflict(
    'the upload has more than {max} pieces; start over',
    'Start a new upload with larger pieces.',
  ),
  // reading
  'table.malformed_columns': invalid('columns must be names separated by commas, quoted as in CSV'),
  'table.empty_column_name': invalid('columns contains an empty name'),
  'table.too_many_columns': invalid(
    'columns: a table can have at most {max} columns in addition to the declared ones',
  ),
  'table.column_name_too_long': invalid('columns: {name}… has more than {max} characters'),
  'tile.off_map': invalid('{field} must be 0 to {max} at zoom {zoom}'),
  'tile.field_without_text': invalid('{field} is required: use field and text together'),
  'sync.user_and_geoid': invalid('user_id cannot be combined with geoid'),
  'sync.too_many_waiting': unavailable('too many requests are waiting; try again without wait'),
  'feed.too_many': unavailable('too many feeds are open; reconnect with Last-Event-ID'),
  'feed.log_not_readable': unavailable('the log is not readable yet; reconnect with Last-Event-ID'),
  // maintenance
  'administration.needs_token': unauthenticated(
    "administrators' data was created with a token: send Authorization: Bearer …",
  ),
  'dead_letter.unknown': notFound(
    'dead letter not found; it was delivered, dismissed or is being retried',
    'Nothing, if the delivery is done; otherwise check the id.',
  ),
  'dead_letter.malformed_ids': invalid('ids must be notification_ids separated by commas'),
};
