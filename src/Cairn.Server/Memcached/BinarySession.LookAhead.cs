using Cairn.Server.Buffers;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// Looks ahead over a batch of requests, as TextSession does. Only the places of the keys are kept: reading a request again costs less than
// a copy of it.
internal sealed unsafe partial class BinarySession
{
    private const int MaxAhead = 64;

    private readonly RequestsAhead _ahead;
    private long _nextAhead;
    private int _aheadCount;

    public override void Prefetch(ReadOnlySpan<byte> input)
    {
        _nextAhead = _ahead.Next;
        _aheadCount = 0;
        if (!_isAuthenticated || _skipBytes != 0 || _longValue.IsHeld)
        {
            return;
        }

        bool isSampled = _recorder.Keys.IsWatched;
        int position = 0;
        fixed (byte* bytes = input)
        {
            while (_aheadCount < MaxAhead
                && MemcachedBinary.TryRead(input[position..], out MemcachedBinaryRequest request, out int consumed) == ParseStatus.Complete)
            {
                ref AheadRequest ahead = ref _ahead.Place;
                ahead.Position = position;
                ahead.IsPlaced = !request.Key.IsEmpty;
                if (ahead.IsPlaced)
                {
                    ahead.Place = _pinned.PlaceOf(_engine, bytes + position + request.Key.Offset, request.Key.Length);
                    if (isSampled)
                    {
                        _recorder.Keys.Add(input.Slice(position + request.Key.Offset, request.Key.Length));
                    }
                }

                _ahead.Add();
                _aheadCount++;
                position += consumed;
            }
        }
    }

    public override void PrefetchFurther() => _ahead.FetchEntries(_engine, _nextAhead, _aheadCount);

    // Returns the place of the key of the request at a position of the input.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private KeyPlacement PlaceOf(int position, byte* key, int keyLength)
    {
        if (_aheadCount != 0)
        {
            long number = _nextAhead++;
            _aheadCount--;
            ref readonly AheadRequest ahead = ref _ahead[number];
            if (_ahead.Holds(number) && ahead.Position == position && ahead.IsPlaced)
            {
                return ahead.Place;
            }

            if (ahead.Position != position)
            {
                _aheadCount = 0; // I2
            }
        }

        return keyLength == 0 ? default : _pinned.PlaceOf(_engine, key, keyLength);
    }
}
