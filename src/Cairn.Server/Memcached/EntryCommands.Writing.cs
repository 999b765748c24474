using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Protocol.Memcached;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// set, add, replace, append, prepend, cas, delete, touch, incr, decr and flush_all.
internal sealed unsafe partial class EntryCommands
{
    // The longest number, and room for padding by clients.
    private const int NumberBufferBytes = 128;

    // The version of an entry that had expired when it was written. The store has none for it, and clients expect another number than 0.
    private const ulong ExpiredVersion = 1;

    /// <summary>
    /// Executes <c>set</c>, <c>add</c>, <c>replace</c>, <c>append</c>, <c>prepend</c> or <c>cas</c>.
    /// </summary>
    /// <returns><see cref="WriteStatus.TooLarge"/> if the item is larger than clients may set.</returns>
    public WriteStatus Store(in KeyRef key, in StoreRequest request)
    {
        NoteGet(key);
        WriteStatus status = StoreUnnoted(key, request);
        NoteStore(key, request.Command, status, request.Value.Length, request.ExpirationSeconds);
        return status;
    }

    /// <summary>Executes as <see cref="Store(in KeyRef, in StoreRequest)"/> does, and returns the resulting version.</summary>
    public WriteStatus Store(in KeyRef key, in StoreRequest request, out ulong version)
    {
        NoteGet(key);
        version = 0;
        WriteStatus status = !MayStore(key, request) ? WriteStatus.TooLarge
            : request.Command is MemcachedCommand.Append or MemcachedCommand.Prepend
                ? Join(key, request.Value, isPrefix: request.Command == MemcachedCommand.Prepend, request.Version, out version)
                : Write(key, request, out version);
        NoteStore(key, request.Command, status, request.Value.Length, request.ExpirationSeconds);
        return status;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private WriteStatus StoreUnnoted(in KeyRef key, in StoreRequest request)
    {
        if (!MayStore(key, request))
        {
            return WriteStatus.TooLarge;
        }

        if (request.Command is MemcachedCommand.Append or MemcachedCommand.Prepend)
        {
            return Join(key, request.Value, isPrefix: request.Command == MemcachedCommand.Prepend);
        }

        return request.Command == MemcachedCommand.Set && request is { Flags: 0, ExpirationSeconds: 0 } && TryReplacePlain(key, request.Value)
            ? WriteStatus.Stored
            : Write(key, request, out _);
    }

    /// <summary>Replaces a value without flags and expiration on the fast path. Returns false, with nothing changed, if another path must
    /// set it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReplacePlain(in KeyRef key, ReadOnlySpan<byte> value)
    {
        if (!_engine.TryReplacePlain(new BytesKey(key.Bytes, key.Length), key.Place, ref MemoryMarshal.GetReference(value), value.Length))
        {
            return false;
        }

        NotifySet(key, ResolvedExpiration.Never);
        return true;
    }

    /// <summary>Writes an entry and reports it.</summary>
    public WriteStatus Write(
        in KeyRef key, in EntryContent content, WriteCondition condition, ulong expectedVersion, out ulong version)
    {
        WriteStatus status = Events.Write(_engine, key, content, condition, expectedVersion, out version);
        if (status == WriteStatus.Stored)
        {
            NotifySet(key, content.Expiration);
            version = Math.Max(version, ExpiredVersion);
        }

        CountNoMemory(status);
        return status;
    }

    /// <summary>Adds to a value, at its start or its end.</summary>
    /// <returns><see cref="WriteStatus.NotFound"/> also if the result would be too large.</returns>
    public WriteStatus Join(in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        bool isFound = _engine.TryGetInfo(key, acceptStale: false, out EntryInfo info);
        if (isFound && IsTooLarge(key.Length, (long)info.ValueBytes + addition.Length, info.Flags))
        {
            return WriteStatus.NotFound; // NOT_STORED, as in memcached.
        }

        CountCopied(info.ValueBytes);
        WriteStatus status = _engine.Join(key, addition, isPrefix);
        return FinishJoin(key, status);
    }

    /// <summary>Adds to a value that has this version, or any with 0, and returns the resulting version. The client can choose the version.</summary>
    public WriteStatus Join(
        in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix, ulong expectedVersion, out ulong version, ulong chosenVersion = 0)
    {
        version = 0;
        while (true)
        {
            if (_engine.TryPin(key, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, isUse: false) == PinStatus.Missing)
            {
                return FinishJoin(key, WriteStatus.NotFound);
            }

            using (pin)
            {
                if (expectedVersion != 0 && pin.Info.Version != expectedVersion)
                {
                    return WriteStatus.VersionMismatch;
                }

                if (IsTooLarge(key.Length, (long)pin.Info.ValueBytes + addition.Length, pin.Info.Flags))
                {
                    return WriteStatus.NotFound;
                }

                CountCopied(pin.Info.ValueBytes);
                EntryContent content = EntryContent.Joined(pin, addition, isPrefix);
                content.ChosenVersion = chosenVersion;
                WriteStatus status = _engine.Write(key, content, WriteCondition.IfVersion, pin.Info.Version, out version);
                if (expectedVersion != 0 || status is not (WriteStatus.VersionMismatch or WriteStatus.NotFound))
                {
                    return FinishJoin(key, status);
                }
            }
        }
    }

    /// <summary>Counts the result of a comparison of versions.</summary>
    public void CountCas(WriteStatus status)
    {
        switch (status)
        {
            case WriteStatus.Stored:
                Counters.CasHits++;
                break;
            case WriteStatus.VersionMismatch:
                Counters.CasMismatches++;
                break;
            default:
                Counters.CasMisses++;
                break;
        }
    }

    /// <summary>Counts an item that is too large. With <paramref name="removesOld"/>, removes the old value, so that no client takes it
    /// for the new one. Only for commands that would have replaced it in any case.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void RefuseTooLarge(in KeyRef key, bool removesOld)
    {
        Counters.TooLarge++;
        if (removesOld)
        {
            Remove(key);
        }
    }

    /// <summary>Executes <c>delete</c>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="expectedVersion">The version that the entry must have; 0 for any.</param>
    public WriteStatus Delete(in KeyRef key, ulong expectedVersion = 0)
    {
        if (_sessions.Prefixes.IsOn)
        {
            _sessions.Prefixes.CountDelete(NameOf(key));
        }

        CountGone(key);
        WriteStatus status = RemoveNoted(key, expectedVersion, "delete");
        CountDelete(status);
        return status;
    }

    /// <summary>Counts the result of a <c>delete</c>.</summary>
    public void CountDelete(WriteStatus status) => (status == WriteStatus.Stored ? ref Counters.DeleteHits : ref Counters.DeleteMisses)++;

    /// <summary>Removes an entry and reports it.</summary>
    public WriteStatus Remove(in KeyRef key, ulong expectedVersion = 0)
    {
        WriteStatus status = _engine.Remove(key, expectedVersion == 0 ? WriteCondition.Always : WriteCondition.IfVersion, expectedVersion);
        if (status == WriteStatus.Stored)
        {
            Events.Notify(EventClasses.Generic, "del"u8, NameOf(key));
        }

        return status;
    }

    /// <summary>Executes <c>touch</c>.</summary>
    public WriteStatus Touch(in KeyRef key, long seconds)
    {
        Counters.Touches++;
        WriteStatus status = Touch(key, ExpirationOf(seconds));
        if (status == WriteStatus.Stored)
        {
            Counters.TouchHits++;
        }
        else if (status == WriteStatus.NotFound)
        {
            Counters.TouchMisses++;
            CountGone(key);
        }

        return status;
    }

    /// <summary>
    /// Executes <c>incr</c> or <c>decr</c>. The sum wraps at 64 bits; the difference ends at 0. If the number is shorter than the value,
    /// spaces follow it, as in memcached, which counts in place.
    /// </summary>
    /// <returns><see cref="WriteStatus.Exists"/> if the entry has another version than expected.</returns>
    public WriteStatus Add(in KeyRef key, in Arithmetic arithmetic, out CountedNumber counted)
    {
        Span<byte> text = stackalloc byte[NumberBufferBytes];
        counted = default;
        while (true)
        {
            byte[]? rented = null;
            ReadOutcome outcome = _engine.TryGet(key, text, acceptStale: false, out counted.Info);
            if (outcome == ReadOutcome.TooShort)
            {
                CountCopied(counted.Info.ValueBytes);
                rented = ArrayPool<byte>.Shared.Rent(counted.Info.ValueBytes);
                outcome = _engine.TryGet(key, rented, acceptStale: false, out counted.Info);
            }

            counted.FormerDeadlineMs = counted.Info.DeadlineUnixMs;
            WriteStatus status = outcome switch
            {
                ReadOutcome.Miss => WriteStatus.NotFound,
                ReadOutcome.TooShort => WriteStatus.VersionMismatch, // It has just become longer.
                _ when arithmetic.ExpectedVersion != 0 && counted.Info.Version != arithmetic.ExpectedVersion => WriteStatus.Exists,
                _ => Add(key, rented ?? text, arithmetic, ref counted),
            };
            if (rented is not null)
            {
                ArrayPool<byte>.Shared.Return(rented);
            }

            if (status == WriteStatus.NotFound)
            {
                CountGone(key);
                OnMiss(key, isRead: false);
            }

            if (status != WriteStatus.VersionMismatch)
            {
                if (status == WriteStatus.Stored)
                {
                    (arithmetic.IsIncrement ? ref Counters.IncrHits : ref Counters.DecrHits)++;
                }

                return status;
            }
        }
    }

    /// <summary>Counts an <c>incr</c> or <c>decr</c> that found no number.</summary>
    public void CountArithmeticMiss(bool isIncrement) => (isIncrement ? ref Counters.IncrMisses : ref Counters.DecrMisses)++;

    /// <summary>Creates a number that does not exist.</summary>
    public WriteStatus CreateNumber(in KeyRef key, ulong number, in ResolvedExpiration expiration, out EntryInfo info, ulong chosenVersion = 0)
    {
        Span<byte> digits = stackalloc byte[DecimalText.MaxUInt64Bytes];
        digits = digits[..DecimalText.Format(number, digits)];
        var content = new EntryContent { Type = EntryType.Value, Expiration = expiration, First = digits, ChosenVersion = chosenVersion };
        WriteStatus status = Events.Write(_engine, key, content, WriteCondition.IfAbsent, 0, out ulong version);
        if (status == WriteStatus.Stored)
        {
            Events.Notify(EventClasses.Strings, "incrby"u8, NameOf(key));
            if (!expiration.IsNever)
            {
                NotifyTouched(key, expiration);
            }
        }

        info = new EntryInfo(EntryType.Value, digits.Length, 0, Math.Max(version, ExpiredVersion), expiration.Deadline, 0, long.MaxValue)
        {
            ChosenVersion = chosenVersion,
        };
        return status;
    }

    /// <summary>Empties the store, now or after a delay in the form of an expiration. Returns false if clients may not.</summary>
    public bool TryFlushAll(long seconds)
    {
        if (!_sessions.Options.AllowFlush)
        {
            return false;
        }

        Counters.Flushes++;
        ResolvedExpiration when = ExpirationOf(Math.Max(0, seconds));
        _sessions.Flush(when.IsNever && seconds <= 0 ? 0 : when.Deadline);
        return true;
    }

    // Counts a command that stores, and returns whether its item is not too large.
    private bool MayStore(in KeyRef key, in StoreRequest request)
    {
        Counters.Sets++;
        if (IsTooLarge(key.Length, request.Value.Length, request.Flags))
        {
            RefuseTooLarge(key, removesOld: request.Command == MemcachedCommand.Set);
            return false;
        }

        if (_sessions.Prefixes.IsOn)
        {
            _sessions.Prefixes.CountSet(NameOf(key));
        }

        return true;
    }

    private WriteStatus Write(in KeyRef key, in StoreRequest request, out ulong version)
    {
        var content = new EntryContent
        {
            Type = EntryType.Value,
            Flags = request.Flags,
            Expiration = ExpirationOf(request.ExpirationSeconds),
            First = request.Value,
        };
        WriteCondition condition = request.Command switch
        {
            MemcachedCommand.Add => WriteCondition.IfAbsent,
            MemcachedCommand.Replace => WriteCondition.IfPresent,
            MemcachedCommand.Cas when !_sessions.Options.TellsVersions => WriteCondition.IfPresent,
            MemcachedCommand.Cas => WriteCondition.IfVersion,
            _ => WriteCondition.Always,
        };
        WriteStatus status = Write(key, content, condition, request.Version, out version);
        if (request.Command == MemcachedCommand.Cas)
        {
            CountCas(status);
        }

        return status;
    }

    private WriteStatus FinishJoin(in KeyRef key, WriteStatus status)
    {
        if (status == WriteStatus.Stored)
        {
            Events.Notify(EventClasses.Strings, "append"u8, NameOf(key));
        }
        else if (status == WriteStatus.NotFound)
        {
            OnMiss(key, isRead: false);
        }

        CountNoMemory(status);
        return status == WriteStatus.TooLarge ? WriteStatus.NotFound : status;
    }

    private WriteStatus Touch(in KeyRef key, in ResolvedExpiration expiration)
    {
        WriteStatus status = _engine.Touch(key, expiration, marks: null, expectedVersion: 0, out _, out int longBytes);
        CountCopied(longBytes);
        if (status == WriteStatus.Stored)
        {
            NotifyTouched(key, expiration);
        }
        else if (status == WriteStatus.NotFound)
        {
            OnMiss(key, isRead: false);
        }

        return status;
    }

    private WriteStatus Add(in KeyRef key, Span<byte> value, in Arithmetic arithmetic, ref CountedNumber counted)
    {
        Span<byte> text = value[..counted.Info.ValueBytes];
        if (!MemcachedNumber.TryParseUInt64(text, out ulong old))
        {
            return WriteStatus.NotANumber;
        }

        counted.Number = arithmetic.IsIncrement ? unchecked(old + arithmetic.Delta) : old - Math.Min(old, arithmetic.Delta);
        Span<byte> digits = stackalloc byte[DecimalText.MaxUInt64Bytes];
        digits = digits[..DecimalText.Format(counted.Number, digits)];
        ReadOnlySpan<byte> result = digits;
        if (digits.Length < text.Length)
        {
            digits.CopyTo(text);
            text[digits.Length..].Fill((byte)' ');
            result = text;
        }

        ResolvedExpiration? expiration = arithmetic.Expiration;
        WriteStatus status = _engine.Rewrite(key, result, expiration, counted.Info.Version, out ulong version, arithmetic.ChosenVersion);
        if (status == WriteStatus.Stored)
        {
            counted.Info = new EntryInfo(
                counted.Info.Type, result.Length, counted.Info.Flags, version,
                expiration?.EarliestDeadline ?? counted.Info.DeadlineUnixMs, 0, long.MaxValue)
            {
                ChosenVersion = arithmetic.ChosenVersion,
            };
            Events.Notify(EventClasses.Strings, "incrby"u8, NameOf(key));
            if (expiration is { } changed)
            {
                NotifyTouched(key, changed);
            }
        }

        // The entry was removed since. The caller tries again.
        return status == WriteStatus.NotFound ? WriteStatus.VersionMismatch : status;
    }

    // The store has no room, or was busy for too long.
    private void CountNoMemory(WriteStatus status)
    {
        if (status >= WriteStatus.NoRoom)
        {
            Counters.NoMemory++;
        }
    }
}

/// <summary>What a client stores.</summary>
internal readonly ref struct StoreRequest
{
    public required MemcachedCommand Command { get; init; }

    public required ReadOnlySpan<byte> Value { get; init; }

    public uint Flags { get; init; }

    public long ExpirationSeconds { get; init; }

    /// <summary>Gets the version that <c>cas</c> expects.</summary>
    public ulong Version { get; init; }
}

/// <summary>The change of a number.</summary>
/// <param name="Delta">The number to add or subtract.</param>
/// <param name="IsIncrement">Whether it is added.</param>
/// <param name="ExpectedVersion">The version that the entry must have; 0 for any.</param>
/// <param name="Expiration">The entry's new expiration; null for no change.</param>
/// <param name="ChosenVersion">The version that the client chose for the new number; 0 for none.</param>
internal readonly record struct Arithmetic(ulong Delta, bool IsIncrement, ulong ExpectedVersion = 0, ResolvedExpiration? Expiration = null, ulong ChosenVersion = 0);

/// <summary>A changed number.</summary>
internal struct CountedNumber
{
    public ulong Number;

    /// <summary>The entry's properties after the change.</summary>
    public EntryInfo Info;

    public long FormerDeadlineMs;
}
