namespace Cairn.Caching.Coherence;

// The latest changes, by stripe of the hash. An entry enters the first level only if they show no change since its mark.
//
//   I1  A change is recorded before the sink is notified. A value is kept under the stripe's lock, and only if no change of its hash was
//       recorded since its mark. So the sink removes values that were kept before the record, and none is kept after it.
//   I2  A stripe remembers the hashes of its last RingLength changes. A mark that is older counts as changed.
//   I3  A change of everything first increments Overrun, then waits for concurrent keeps to finish, then notifies the sink.
//   I4  A new value that is kept replaces what the sink would remove, and unjoins the same flights. So the sink need not be notified of its write.
internal sealed class ChangeStripes
{
    private const int StripeBits = 6;
    private const int RingLength = 256;

    private readonly Stripe[] _stripes;
    private IChangeSink? _sink;
    private uint _overrun;

    public ChangeStripes()
    {
        _stripes = new Stripe[1 << StripeBits];
        for (int i = 0; i < _stripes.Length; i++)
        {
            _stripes[i] = new Stripe();
        }
    }

    public void Attach(IChangeSink sink) => Volatile.Write(ref _sink, sink);

    /// <summary>Records a change of a hash and notifies the sink.</summary>
    public void Change(ulong hash)
    {
        Stripe stripe = StripeOf(hash);
        lock (stripe)
        {
            stripe.Record(hash);
        }

        Volatile.Read(ref _sink)?.OnChanged(hash);
    }

    /// <summary>Records a change of everything and notifies the sink.</summary>
    public void ChangeAll()
    {
        Interlocked.Increment(ref _overrun);
        foreach (Stripe stripe in _stripes)
        {
            // A keep under this lock reads the old number or the new one. Those that read the old one have finished once the lock is acquired
            // (I3).
            lock (stripe)
            {
            }
        }

        Volatile.Read(ref _sink)?.OnChangedMany(64, 0);
    }

    public ChangeMark Mark(ulong hash)
    {
        uint overrun = Volatile.Read(ref _overrun);
        return new(Volatile.Read(ref StripeOf(hash).Position), overrun);
    }

    public ChangeMark[] MarkAll()
    {
        uint overrun = Volatile.Read(ref _overrun);
        var marks = new ChangeMark[_stripes.Length];
        for (int i = 0; i < marks.Length; i++)
        {
            marks[i] = new(Volatile.Read(ref _stripes[i].Position), overrun);
        }

        return marks;
    }

    public bool IsUnchanged(in ChangeMark mark, ulong hash)
    {
        Stripe stripe = StripeOf(hash);
        if (mark.Overrun != Volatile.Read(ref _overrun))
        {
            return false;
        }

        if (mark.Position == Volatile.Read(ref stripe.Position))
        {
            return true;
        }

        lock (stripe)
        {
            return stripe.CountSince(mark.Position, hash, atMost: 0) == 0;
        }
    }

    public bool IsUnchanged(ChangeMark[] marks, ulong hash) => IsUnchanged(in marks[IndexOf(hash)], hash);

    public bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep)
    {
        Stripe stripe = StripeOf(hash);
        lock (stripe)
        {
            return TryKeepLocked(stripe, mark, hash, ownChanges, state, keep);
        }
    }

    /// <summary>Records a change of a hash and keeps the new value in one step. Notifies the sink only if the value is not kept (I4).</summary>
    public bool TryKeepWritten<TState>(in ChangeMark mark, ulong hash, TState state, Func<TState, bool> keep)
    {
        Stripe stripe = StripeOf(hash);
        bool isKept;
        lock (stripe)
        {
            isKept = TryKeepLocked(stripe, mark, hash, 0, state, keep);
            stripe.Record(hash);
        }

        if (!isKept)
        {
            Volatile.Read(ref _sink)?.OnChanged(hash);
        }

        return isKept;
    }

    private bool TryKeepLocked<TState>(Stripe stripe, in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep) =>
        mark.Overrun == Volatile.Read(ref _overrun)
        && (mark.Position == stripe.Position || stripe.CountSince(mark.Position, hash, ownChanges) <= ownChanges)
        && keep(state);

    private static int IndexOf(ulong hash) => (int)(hash >> (64 - StripeBits));

    private Stripe StripeOf(ulong hash) => _stripes[IndexOf(hash)];

    private sealed class Stripe
    {
        public readonly ulong[] Ring = new ulong[RingLength];

        /// <summary>The number of changes so far. Written under the lock.</summary>
        public ulong Position;

        public void Record(ulong hash)
        {
            Ring[Position % RingLength] = hash;

            // Release; pairs with the acquire in Mark. A mark that is taken after the change was acknowledged does not precede the change.
            Volatile.Write(ref Position, Position + 1);
        }

        /// <summary>
        /// Returns how often the hash was changed since a position; more than <paramref name="atMost"/> if that is not known (I2).
        /// </summary>
        public int CountSince(ulong position, ulong hash, int atMost)
        {
            ulong changes = Position - position;
            if (changes > RingLength)
            {
                return atMost + 1;
            }

            int count = 0;
            for (ulong at = position; at != Position; at++)
            {
                count += Ring[at % RingLength] == hash ? 1 : 0;
            }

            return count;
        }
    }
}
