using System.Runtime.CompilerServices;
using Cairn.Indexing;
using Cairn.Protocol;
using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

// Looking ahead over a batch of requests: the buckets of their keys are fetched, then the entries, while others' are; when the requests
// are executed, what they need is in the cache, and they need not be read again.
//
//   I3  The requests read ahead are those at the start of the input. Only Execute consumes input, and it forgets what it did not use.
internal sealed unsafe partial class MemcachedSession
{
    // As many as are executed before the first one fetched is evicted from the cache again.
    private const int MaxAhead = 64;

    private readonly RequestsAhead _ahead;
    private long _nextAhead;
    private int _aheadCount;

    // Where the key of the request lies that is being executed, if it was looked for already.
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
                    ahead.Place = _engine.Memory.Place(
                        _engine.Memory.HashKey(bytes + position + ahead.Request.Key.Offset, ahead.Request.Key.Length, 0));
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

    public override void PrefetchFurther()
    {
        _ahead.FetchBuckets(_engine); // Of all connections that are served together, when the first of them comes here.
        for (long number = _nextAhead; number < _nextAhead + _aheadCount; number++)
        {
            ref readonly AheadRequest ahead = ref _ahead[number];
            if (ahead.IsPlaced && _ahead.Holds(number))
            {
                _engine.PrefetchEntry(ahead.Place);
            }
        }
    }

    // The bytes of the request at a position of the input; 0 if it is not complete, or its reply is not.
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

            _aheadCount = 0; // I3, or overtaken.
        }

        return ExecuteOne(rest, output);
    }
}
