namespace Cairn.Caching.Flights;

// All flights of a cache, by hash, in stripes with a lock each. A flight that is no longer joinable is not in it.
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

    /// <summary>True if there is no flight that other callers could join or that a change would concern.</summary>
    public bool IsEmpty => Array.TrueForAll(_stripes, stripe => Volatile.Read(ref stripe.First) is null);

    /// <summary>
    /// Joins a <typeparamref name="TFlight"/> of the same key, or adds the new flight. A flight that has ended but is not removed yet is not
    /// joined: its value is in the levels, or has been invalidated since.
    /// </summary>
    /// <param name="flight">The new flight.</param>
    /// <param name="oldest">The earliest second in which a joined flight may have begun.</param>
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

    /// <summary>
    /// Combines <see cref="Flight.TryKeep"/> and <see cref="Remove"/>, for a flight whose only remaining step is to report its result.
    /// </summary>
    /// <param name="flight">The flight.</param>
    /// <param name="unjoins">Whether the value is a change of the key. If it is kept, other flights of the hash are unjoined, as by <see cref="Unjoin"/>.</param>
    /// <param name="state">The argument of <paramref name="keep"/>.</param>
    /// <param name="keep">The action that keeps the value.</param>
    /// <returns>False if this process has changed the key since; then <paramref name="keep"/> is not run.</returns>
    public bool TryKeepAndRemove<TState>(Flight flight, bool unjoins, TState state, Action<TState> keep)
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
            if (unjoins && mayKeep && stripe.First is not null)
            {
                stripe.Unjoin(flight.Hash);
            }

            return mayKeep;
        }
    }

    /// <summary>
    /// Prevents further joins of the flights of this hash, after another process changed the key. The flights detect the change themselves.
    /// </summary>
    public void Unjoin(ulong hash)
    {
        Stripe stripe = StripeOf(hash);

        // Most changed keys have no flight. A flight that is added at this moment began after the change.
        if (Volatile.Read(ref stripe.First) is null)
        {
            return;
        }

        lock (stripe)
        {
            stripe.Unjoin(hash);
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

    /// <summary>Detaches all flights of the hash because this process changes the key: their values are not kept, and no caller joins them.</summary>
    public void Detach(ulong hash) => Detach(hash, alsoWriters: true);

    /// <summary>
    /// Detaches the flights of the hash, except sets, after this process changed the key: the values that they read or create are not kept.
    /// </summary>
    public void DetachReaders(ulong hash) => Detach(hash, alsoWriters: false);

    /// <summary>Returns how often this process changed a key of the hash's stripe, for reads that keep their value without a flight.</summary>
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

    // The low bits, because the highest bits choose the store's partition.
    private Stripe StripeOf(ulong hash) => _stripes[(int)hash & (Stripes - 1)];

    private sealed class Stripe
    {
        public Flight? First;
        public int Detaches;

        /// <summary>Removes a flight if it is still present.</summary>
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

        public void Unjoin(ulong hash) => RemoveWhere(static (other, hash) => other.Hash == hash && other.IsJoinable, hash);

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
