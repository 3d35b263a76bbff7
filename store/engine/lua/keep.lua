#!lua
-- keep: put updates into the inbox, each once; all of it or nothing.
-- KEYS     1 lease {epoch}   2 seen   3 inbox
-- ARGV     1 epoch of the lease, or '' for anybody   2 memory, ms   then pairs: id, raw
-- returns  how many are new, or -1: the lease has been taken since
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return -1 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[2])
local new = 0
for i = 3, #ARGV, 2 do
  if redis.call('ZADD', KEYS[2], now, ARGV[i]) == 1 then
    redis.call('XADD', KEYS[3], '*', 'u', ARGV[i + 1])
    new = new + 1
  end
end
return new
