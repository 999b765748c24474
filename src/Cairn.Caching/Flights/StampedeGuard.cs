namespace Cairn.Caching.Flights;

// All flights of a cache, by hash, in stripes with a lock each. A flight that is not joinable any more is not here.
internal sealed class StampedeGuard
{
    private const int Stripes = 64;

    private readonly Stripe[] _stripes = new Stripe[Stripes];

    public StampedeGuard()
    {
        for (int i = 0; i < Stripes; i++)
        {
            _stripes[i] = new Stripe();
        }
    }

    /// <summary>True if nothing is being made that others could join or a change would concern.</summary>
    public bool IsEmpty => Array.TrueForAll(_stripes, stripe => Volatile.Read(ref stripe.First) is null);

    /// <summary>
    /// Joins the flight of the same key that makes a <typeparamref name="TFlight"/>, or adds the new one. One that has ended and has not
    /// been taken out yet is not joined: what it made is found in the levels, or has been invalidated since.
    /// </summary>
    /// <param name="flight">The new one.</param>
    /// <param name="oldest">The second in which those that are joined must have begun, or later.</param>
    /// <returns>The flight that was joined; null if the new one was added.</returns>
    public TFlight? JoinOrAdd<TFlight>(TFlight flight, uint oldest = 0)
        where TFlight : JoinableFlight
    {
        Stripe stripe = StripeOf(flight.Hash);
        lock (stripe)
        {
            for (Flight? other = stripe.First; other is not null; other = other.Next)
            {
                if (other.Hash == flight.Hash && other is TFlight joinable && other.Key == flight.Key
                    && joinable.Purpose == flight.Purpose && joinable.Began >= oldest && !joinable.HasEnded && joinable.TryJoin())
                {
                    return joinable;
                }
            }

            flight.Next = stripe.First;
            stripe.First = flight;
            return null;
        }
    }

    public void Add(Flight flight)
    {
        Stripe stripe = StripeOf(flight.Hash);
        lock (stripe)
        {
            flight.Next = stripe.First;
            stripe.First = flight;
        }
    }

    public void Remove(Flight flight)
    {
        if (flight.IsRemoved)
        {
            return;
        }

        Stripe stripe = StripeOf(flight.Hash);
        lock (stripe)
        {
            stripe.Remove(flight);
        }
    }

    /// <summary><see cref="Flight.TryKeep"/> and <see cref="Remove"/> in one: for a flight that has nothing left to do but to say so.</summary>
    /// <returns>False if this process has changed the key since; then nothing is run.</returns>
    public bool TryKeepAndRemove<TState>(Flight flight, TState state, Action<TState> keep)
    {
        Stripe stripe = StripeOf(flight.Hash);
        lock (stripe)
        {
            bool mayKeep = !flight.IsDetached; // Flight, I2: detaching takes this lock.
            if (mayKeep)
            {
                keep(state);
            }

            stripe.Remove(flight);
            flight.IsRemoved = true;
            return mayKeep;
        }
    }

    /// <summary>Nobody joins the flights of this hash any more: somebody else changed the key. They notice that themselves.</summary>
    public void Unjoin(ulong hash)
    {
        Stripe stripe = StripeOf(hash);

        // Most changes are of keys that nobody is waiting for. A flight that is added at this moment began after the change.
        if (Volatile.Read(ref stripe.First) is null)
        {
            return;
        }

        lock (stripe)
        {
            stripe.RemoveWhere(static (other, hash) => other.Hash == hash && other.IsJoinable, hash);
        }
    }

    public void UnjoinMany(int shift, ulong value)
    {
        foreach (Stripe stripe in _stripes)
        {
            lock (stripe)
            {
                stripe.RemoveWhere(static (other, many) => (many.shift == 64 || other.Hash >> many.shift == many.value) && other.IsJoinable, (shift, value));
            }
        }
    }

    /// <summary>This process is changing the key: what is being made of it is not kept, and nobody joins it.</summary>
    public void Detach(ulong hash) => Detach(hash, alsoWriters: true);

    /// <summary>This process has changed the key: what was read of it before is not kept. Another who sets it meanwhile is not concerned.</summary>
    public void DetachReaders(ulong hash) => Detach(hash, alsoWriters: false);

    /// <summary>How often a key of the hash' stripe was changed by this process: for who keeps what it read without a flight.</summary>
    public int Detaches(ulong hash) => Volatile.Read(ref StripeOf(hash).Detaches);

    /// <summary>Runs <paramref name="keep"/> unless this process has changed a key of the stripe since.</summary>
    public bool TryKeep<TState>(ulong hash, int detaches, TState state, Action<TState> keep)
    {
        Stripe stripe = StripeOf(hash);
        lock (stripe)
        {
            if (stripe.Detaches != detaches)
            {
                return false;
            }

            keep(state);
            return true;
        }
    }

    public void DetachAll()
    {
        foreach (Stripe stripe in _stripes)
        {
            lock (stripe)
            {
                stripe.Detaches++;
                for (Flight? other = stripe.First; other is not null; other = other.Next)
                {
                    other.Detach();
                }

                stripe.First = null;
            }
        }
    }

    private void Detach(ulong hash, bool alsoWriters)
    {
        Stripe stripe = StripeOf(hash);
        lock (stripe)
        {
            stripe.Detaches++;
            stripe.RemoveWhere(
                static (other, wanted) =>
                {
                    bool isWanted = other.Hash == wanted.hash && (wanted.alsoWriters || !other.IsWriter);
                    if (isWanted)
                    {
                        other.Detach();
                    }

                    return isWanted;
                },
                (hash, alsoWriters));
        }
    }

    // The low bits: the top ones name the store's partitions.
    private Stripe StripeOf(ulong hash) => _stripes[(int)hash & (Stripes - 1)];

    private sealed class Stripe
    {
        public Flight? First;
        public int Detaches;

        /// <summary>Takes a flight out, if it is there still.</summary>
        public void Remove(Flight flight)
        {
            if (ReferenceEquals(First, flight))
            {
                First = flight.Next;
                return;
            }

            for (Flight? other = First; other is not null; other = other.Next)
            {
                if (ReferenceEquals(other.Next, flight))
                {
                    other.Next = flight.Next;
                    return;
                }
            }
        }

        public void RemoveWhere<TState>(Func<Flight, TState, bool> isWanted, TState state)
        {
            Flight? last = null;
            for (Flight? flight = First; flight is not null; flight = flight.Next)
            {
                if (!isWanted(flight, state))
                {
                    last = flight;
                }
                else if (last is null)
                {
                    First = flight.Next;
                }
                else
                {
                    last.Next = flight.Next;
                }
            }
        }
    }
}
