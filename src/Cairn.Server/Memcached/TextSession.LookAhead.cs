using Cairn.Server.Buffers;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// Looks ahead over a batch of requests. The buckets of their keys are fetched, then the entries, together with those of other
// connections. By the time the requests are executed, the data they need is in the CPU's cache, and they need not be parsed again.
//
//   I3  The requests read ahead are those at the start of the input. Only Execute consumes input, and it discards unused requests.
internal sealed unsafe partial class TextSession
{
    // The maximum number of requests, so that they are executed before the first data fetched leaves the cache.
    private const int MaxAhead = 64;

    private readonly RequestsAhead _ahead;
    private long _nextAhead;
    private int _aheadCount;

    // The place of the key of the present request, if it was already determined.
    private KeyPlacement _place;
    private bool _isPlaced;

    public override void Prefetch(ReadOnlySpan<byte> input)
    {
        _nextAhead = _ahead.Next;
        _aheadCount = 0;
        if (!_isAuthenticated || _skipBytes != 0 || _resumeAt != 0)
        {
            return;
        }

        bool isSampled = _recorder.Keys.IsWatched;
        fixed (byte* bytes = input)
        {
            int position = 0;
            int searched = _searchedBytes;
            while (_aheadCount < MaxAhead)
            {
                ref AheadRequest ahead = ref _ahead.Place;
                if (MemcachedReader.TryRead(input[position..], out ahead.Request, out ahead.Bytes, searched, _sessions.Options.MaxMultigetBytes)
                    != ParseStatus.Complete)
                {
                    break;
                }

                ahead.Position = position;
                ahead.IsPlaced = !ahead.Request.Key.IsEmpty && !ahead.Request.IsBase64Key;
                if (ahead.IsPlaced)
                {
                    ahead.Place = _pinned.PlaceOf(_engine, bytes + position + ahead.Request.Key.Offset, ahead.Request.Key.Length);
                    if (isSampled)
                    {
                        _recorder.Keys.Add(input.Slice(position + ahead.Request.Key.Offset, ahead.Request.Key.Length));
                    }
                }

                _ahead.Add();
                _aheadCount++;
                position += ahead.Bytes;
                searched = 0;
            }
        }
    }

    public override void PrefetchFurther() => _ahead.FetchEntries(_engine, _nextAhead, _aheadCount);

    // Executes the request at a position of the input. Returns its length, or 0 if it is incomplete or its reply is.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int ExecuteNext(ReadOnlySpan<byte> rest, int position, OutputBuffer output)
    {
        if (_aheadCount != 0)
        {
            long number = _nextAhead++;
            _aheadCount--;
            ref readonly AheadRequest ahead = ref _ahead[number];
            if (_ahead.Holds(number) && ahead.Position == position)
            {
                _place = ahead.Place;
                _isPlaced = ahead.IsPlaced;
                int used = ExecuteComplete(rest, ahead.Request, ahead.Bytes, output);
                _isPlaced = false;
                return used;
            }

            _aheadCount = 0; // I3, or the ring has wrapped around.
        }

        return ExecuteOne(rest, output);
    }
}
