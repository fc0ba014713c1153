-- A script as that of a batch: it changes a state, and reports that.
local args = cjson.decode(ARGV[1])
redis.call('SET', args.prefix .. 'state', 'expired')
return webhooks.emit(args.prefix, args.event)
