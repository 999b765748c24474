using Cairn.Concurrency;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Messages;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Engine;

// Several writes that take effect together:
//
//   room for long values, without the locks -> all partitions, ascending -> requirements -> budgets -> entries in place -> places in the
//   index -> one record -> slots -> locks released -> wait for the disk
//
//   T1  Until the record is appended, readers see nothing of the transaction, and it can still fail. After the record, nothing can fail.
//   T2  A segment with an entry that no slot names yet is pinned before another segment is opened. Otherwise cleaning would treat the
//       entry as garbage.
//   T3  Places in the index are chosen before the record. Each write has its own place, and the record names the places. So a redo of
//       the record finds room for each key where the writer did.
//
// Without a logged collection there is no record. If the process dies in the middle, a part of the transaction remains.
internal sealed unsafe partial class StoreEngine
{
    /// <summary>Executes a plan. Returns false and changes nothing if a requirement is not met.</summary>
    /// <exception cref="StoreFullException">There is no room; nothing was changed. Every exception except the next one has the same
    /// effect.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed. It is not known whether the plan was executed.</exception>
    /// <exception cref="StoreBusyException">A partition lock was not acquired in time.</exception>
    public bool Commit(TransactionPlan plan)
    {
        ThrowIfClosed();
        int attempt = 0;
        while (true)
        {
            WriteStatus status = CommitOnce(plan, out KeyRef failed);
            if (status is WriteStatus.Stored or WriteStatus.VersionMismatch)
            {
                return status == WriteStatus.Stored;
            }

            if (status == WriteStatus.Busy)
            {
                throw Busy(failed);
            }

            bool mayFree = status is WriteStatus.NoRoom or NoBudget && attempt++ < MostAttemptsToKeep;
            if (!mayFree || !TryMakeRoomElsewhere(runLength: status == WriteStatus.NoRoom ? 1 : 0))
            {
                throw Full(failed, status);
            }
        }
    }

    private WriteStatus CommitOnce(TransactionPlan plan, out KeyRef failed)
    {
        using var commit = new TransactionCommit(this, plan);
        WriteStatus status = commit.Run();
        failed = commit.Failed;
        return status;
    }

    /// <summary>One attempt at a transaction.</summary>
    private sealed class TransactionCommit : IDisposable
    {
        private readonly StoreEngine _engine;
        private readonly TransactionPlan _plan;
        private readonly PartitionHold _hold;
        private readonly List<int> _cells = [];
        private readonly HashSet<long> _claimed = [];
        private readonly byte[] _keys;
        private readonly byte*[] _keyOf;

        public TransactionCommit(StoreEngine engine, TransactionPlan plan)
        {
            _engine = engine;
            _plan = plan;
            _hold = new PartitionHold(Memory.PartitionCount);

            // In a pinned array, so that the keys do not move.
            _keys = GC.AllocateUninitializedArray<byte>(Math.Max(1, plan.Writes.Sum(write => write.Key.Length)), pinned: true);
            _keyOf = new byte*[plan.Writes.Count];
            int at = 0;
            for (int i = 0; i < plan.Writes.Count; i++)
            {
                TransactionWrite write = plan.Writes[i];
                write.Key.CopyTo(_keys, at);
                _keyOf[i] = (byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref _keys[at]);
                at += write.Key.Length;
                write.Place = Memory.Place(Memory.HashKey(_keyOf[i], write.Key.Length, write.Collection));
                write.Segment = SegmentPool.None;
                write.Target = null;
                write.Bytes = 0;
                write.RunLength = 0;
                if (IsPut(write))
                {
                    write.Bytes = ContentOf(write).PaddedBytes(KeyOf(i));
                    write.RunLength = write.Bytes > Memory.SegmentBytes ? (int)((write.Bytes + Memory.SegmentBytes - 1) / Memory.SegmentBytes) : 0;
                }

                _hold.Add(write.Place.Partition);
            }

            foreach (TransactionRequirement requirement in plan.Requirements)
            {
                fixed (byte* key = requirement.Key)
                {
                    _hold.Add(engine.Place(key, requirement.Key.Length, requirement.Collection).Place.Partition);
                }
            }
        }

        /// <summary>Gets a key of the collection in which the attempt failed.</summary>
        public KeyRef Failed { get; private set; }

        private StoreMemory Memory => _engine.Memory;

        public WriteStatus Run()
        {
            Failed = new KeyRef(null, 0, _plan.Writes.Count > 0 ? _plan.Writes[0].Collection : _plan.Requirements[0].Collection, default);

            // While a cell is in use, closing does not release the owner slot. Reservations contain its number.
            if (!TryTakeCell(out _))
            {
                return WriteStatus.Busy;
            }

            if (!TryReserveRuns())
            {
                return WriteStatus.NoRoom;
            }

            if (!_engine.TryHold(_hold))
            {
                return WriteStatus.Busy;
            }

            bool isWhole = false;
            try
            {
                WriteStatus status = RunHeld();
                isWhole = true;
                return status;
            }
            finally
            {
                _engine.EndHold(_hold, isWhole || StoreLog.TakeRefusal());
            }
        }

        public void Dispose()
        {
            foreach (TransactionWrite write in _plan.Writes)
            {
                if (write.Segment != SegmentPool.None)
                {
                    _engine._runs.Release(write.Segment, write.RunLength);
                    write.Segment = SegmentPool.None;
                }
            }

            foreach (int cell in _cells)
            {
                _engine.Unpin(cell);
            }

            GC.KeepAlive(_keys);
            GC.KeepAlive(_engine);
        }

        private static bool IsPut(TransactionWrite write) => !write.IsRemoval && !write.Expiration.IsPast;

        private static EntryContent ContentOf(TransactionWrite write) => new()
        {
            Type = EntryType.Value,
            Flags = write.Flags,
            Expiration = write.Expiration,
            First = write.Value,
        };

        private KeyRef KeyOf(int index) => _plan.Writes[index].KeyAt(_keyOf[index]);

        private PartitionBlock* PartitionOf(TransactionWrite write) => Memory.Partition(write.Place.Partition);

        private bool TryFind(int index, out Located old)
        {
            KeyRef key = KeyOf(index);
            return HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out old);
        }

        private bool TryTakeCell(out int cell)
        {
            if (!_engine.TryTakeHazardCell(out cell))
            {
                return false;
            }

            _cells.Add(cell);
            return true;
        }

        private WriteStatus RunHeld()
        {
            foreach (TransactionRequirement requirement in _plan.Requirements)
            {
                if (!IsMet(requirement))
                {
                    _plan.Unmet = requirement;
                    return WriteStatus.VersionMismatch;
                }
            }

            WriteStatus status = CheckBudgets();
            status = status == WriteStatus.Stored ? WriteEntries() : status;
            status = status == WriteStatus.Stored ? ClaimPlaces() : status;
            if (status != WriteStatus.Stored)
            {
                return status;
            }

            AdoptRuns();
            bool isLogged = Log();

            // Nothing fails after this line (T1).
            for (int i = 0; i < _plan.Writes.Count; i++)
            {
                Publish(i);
            }

            if (isLogged)
            {
                _engine.WriteAhead.ClearPending(_hold);
                ProtocolHook.Reach(ProtocolStep.LogPendingCleared);
            }

            foreach (TransactionWrite write in _plan.Writes)
            {
                _engine._evictor.Advance(PartitionOf(write), write.Place.Partition, write.Bytes);
            }

            return WriteStatus.Stored;
        }

        private bool IsMet(TransactionRequirement requirement)
        {
            fixed (byte* bytes = requirement.Key)
            {
                KeyRef key = _engine.Place(bytes, requirement.Key.Length, requirement.Collection);
                bool isLive = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located found)
                    && _engine.IsLive(Memory.Partition(key.Place.Partition), found.Entry);
                return requirement.Version == 0 ? !isLive : isLive && found.Entry.Version == requirement.Version;
            }
        }

        private bool TryReserveRuns()
        {
            for (int i = 0; i < _plan.Writes.Count; i++)
            {
                TransactionWrite write = _plan.Writes[i];
                if (write.RunLength == 0)
                {
                    continue;
                }

                if (_engine.ReserveRun(write.RunLength, out int segment, out byte* target) != WriteStatus.Stored)
                {
                    Failed = KeyOf(i);
                    return false;
                }

                write.Segment = segment;
                write.Target = target;
                EntryContent content = ContentOf(write);
                KeyRef key = KeyOf(i);
                byte* value = EntryContent.WriteKey(target, key, content.FieldsFor(key.Collection));
                write.ValueSum = content.WriteValue(value, Memory.ChecksumSeed);
                ProtocolHook.Reach(ProtocolStep.LargeCopied);
            }

            return true;
        }

        private WriteStatus CheckBudgets()
        {
            var added = new Dictionary<uint, long>();
            for (int i = 0; i < _plan.Writes.Count; i++)
            {
                TransactionWrite write = _plan.Writes[i];
                long replaced = TryFind(i, out Located old)
                    && !EntryAccounting.IsCleared(Memory, PartitionOf(write), old.Entry.Version, write.Collection) ? old.Entry.PaddedBytes : 0;
                added[write.Collection] = added.GetValueOrDefault(write.Collection) + write.Bytes - replaced;
            }

            foreach ((uint collection, long bytes) in added)
            {
                if (_engine.AreBudgetsKept && !_engine._budgets.Allows(collection, bytes))
                {
                    Failed = new KeyRef(null, 0, collection, default);
                    return NoBudget;
                }
            }

            return WriteStatus.Stored;
        }

        // Partition by partition, so that at most one segment must be pinned when another must be opened.
        private WriteStatus WriteEntries()
        {
            for (int number = _hold.Next(0); number >= 0; number = _hold.Next(number + 1))
            {
                int last = SegmentPool.None;
                for (int i = 0; i < _plan.Writes.Count; i++)
                {
                    TransactionWrite write = _plan.Writes[i];
                    if (write.Place.Partition != number || !IsPut(write) || write.RunLength != 0)
                    {
                        continue;
                    }

                    if (!TryWriteEntry(i, write, ref last))
                    {
                        PartitionOf(write)->Declined++;
                        Failed = KeyOf(i);
                        return WriteStatus.NoRoom;
                    }
                }
            }

            return WriteStatus.Stored;
        }

        private bool TryWriteEntry(int index, TransactionWrite write, ref int last)
        {
            PartitionBlock* partition = PartitionOf(write);
            byte* target = _engine.TryReserve(partition, PartitionBlock.LogKeep, write.Bytes);
            if (target is null)
            {
                if (last != SegmentPool.None)
                {
                    if (!TryTakeCell(out int cell))
                    {
                        return false;
                    }

                    _engine._owners.Pin(cell, last); // T2
                }

                if (!_engine.OpenSegment(partition, write.Place.Partition, PartitionBlock.LogKeep, write.Bytes))
                {
                    return false;
                }

                target = _engine.TryReserve(partition, PartitionBlock.LogKeep, write.Bytes);
                if (target is null)
                {
                    return false;
                }
            }

            EntryContent content = ContentOf(write);
            write.Target = target;
            write.Version = ++partition->Version;
            content.TryWrite(target, KeyOf(index), write.Version, Memory.ChecksumSeed);
            ProtocolHook.Reach(ProtocolStep.EntryCopied);
            _engine._log.Commit(partition, PartitionBlock.LogKeep, target, write.Bytes, content.RemovableAt, content.SegmentDeadline);
            last = Memory.SegmentAt(target);
            return true;
        }

        // Runs after all room is made, because making room can move entries that were found before.
        private WriteStatus ClaimPlaces()
        {
            for (int i = 0; i < _plan.Writes.Count; i++)
            {
                TransactionWrite write = _plan.Writes[i];
                if (!IsPut(write) || TryFind(i, out _))
                {
                    continue;
                }

                if (!TryClaim(i, out Bucket* bucket, out int slotIndex) || !Memory.TryBackBucket(bucket))
                {
                    PartitionOf(write)->Declined++;
                    Failed = KeyOf(i);
                    return NoSlot;
                }

                write.Bucket = bucket;
                write.SlotIndex = slotIndex;
                _claimed.Add((long)Bucket.SlotAt(bucket, slotIndex));
            }

            return WriteStatus.Stored;
        }

        private bool TryClaim(int index, out Bucket* bucket, out int slotIndex)
        {
            KeyRef key = KeyOf(index);
            if (HashIndex.TryFindEmpty(Memory, key.Place, out bucket, out slotIndex) && IsUnclaimed(bucket, slotIndex))
            {
                return true;
            }

            bool isAnyClaimed = false;
            for (int choice = 0; choice < 2; choice++)
            {
                if (TryFindUnclaimed(LogPlace.BucketAt(Memory, key.Place, choice), out bucket, out slotIndex, ref isAnyClaimed))
                {
                    return true;
                }
            }

            // TryDisplace would treat claimed slots as the least valuable entries.
            if (!isAnyClaimed && _engine.TryDisplace(Memory.Partition(key.Place.Partition), key, out bucket, out slotIndex)
                && IsUnclaimed(bucket, slotIndex))
            {
                return true;
            }

            for (int choice = 2; choice < 4; choice++)
            {
                if (TryFindUnclaimed(LogPlace.BucketAt(Memory, key.Place, choice), out bucket, out slotIndex, ref isAnyClaimed))
                {
                    Memory.RaiseOverflow();
                    return true;
                }
            }

            return false;
        }

        private bool TryFindUnclaimed(Bucket* candidate, out Bucket* bucket, out int slotIndex, ref bool isAnyClaimed)
        {
            bucket = candidate;
            for (slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
            {
                bool isClaimed = !IsUnclaimed(bucket, slotIndex);
                isAnyClaimed |= isClaimed;
                if (!isClaimed && *Bucket.SlotAt(bucket, slotIndex) == 0)
                {
                    return true;
                }
            }

            return false;
        }

        private bool IsUnclaimed(Bucket* bucket, int slotIndex) => !_claimed.Contains((long)Bucket.SlotAt(bucket, slotIndex));

        private void AdoptRuns()
        {
            for (int i = 0; i < _plan.Writes.Count; i++)
            {
                TransactionWrite write = _plan.Writes[i];
                if (write.Segment == SegmentPool.None)
                {
                    continue;
                }

                PartitionBlock* partition = PartitionOf(write);
                EntryContent content = ContentOf(write);
                KeyRef key = KeyOf(i);
                write.Version = ++partition->Version;
                content.WriteHeader(
                    write.Target, key, content.FieldsFor(key.Collection), (uint)write.Value.Length, write.ValueSum, write.Version, Memory.ChecksumSeed);
                ProtocolHook.Reach(ProtocolStep.EntryCopied);
                Memory.Header(write.Segment)->MaxDeadline = content.SegmentDeadline;
                int segment = write.Segment;
                write.Segment = SegmentPool.None;
                _engine._runs.Adopt(partition, write.Place.Partition, PartitionBlock.LogKeep, segment, write.RunLength);
                _engine._pool.Enqueue(partition, segment);
                _engine._log.LowerMinDeadline(partition, segment, content.RemovableAt);
            }
        }

        // Returns false if no write is in the log.
        private bool Log()
        {
            long bytes = 0;
            for (int i = 0; i < _plan.Writes.Count; i++)
            {
                TransactionWrite write = _plan.Writes[i];
                if (_engine.IsLogged(write.Collection) && (IsPut(write) || TryFind(i, out _)))
                {
                    bytes += LogRecord.SizeOf(BodyOf(i).Length);
                }
            }

            if (bytes == 0)
            {
                return false;
            }

            if (LogRecord.SizeOf(bytes) > LogRecord.MaxBytes)
            {
                throw StoreLog.Refusal(new StoreException(
                    $"A transaction of {ByteText.Of(bytes)} is too long for the log: the maximum is {ByteText.Of(LogRecord.MaxBytes)}. Divide it."));
            }

            var body = new byte[bytes];
            int at = 0;
            for (int i = 0; i < _plan.Writes.Count; i++)
            {
                TransactionWrite write = _plan.Writes[i];
                bool isFound = TryFind(i, out Located old);
                if (!_engine.IsLogged(write.Collection) || !(IsPut(write) || isFound))
                {
                    continue;
                }

                long place = !IsPut(write) ? 0 : _engine.PlaceOf(
                    KeyOf(i), write.Target, isFound ? old.Bucket : write.Bucket, isFound ? old.SlotIndex : write.SlotIndex);
                at += LogRecord.Write(
                    body.AsSpan(at), 0, at, IsPut(write) ? LogKind.Put : LogKind.Remove, write.Collection, place, BodyOf(i));
            }

            long end = _engine.WriteAhead.Append(_hold, LogKind.Transaction, 0, body);
            foreach (TransactionWrite write in _plan.Writes)
            {
                if (_engine.IsLogged(write.Collection))
                {
                    _engine.AddTo(_hold, write.Collection, end);
                }
            }

            return true;
        }

        private ReadOnlySpan<byte> BodyOf(int index)
        {
            TransactionWrite write = _plan.Writes[index];
            return IsPut(write)
                ? new ReadOnlySpan<byte>(write.Target, (int)new EntryView(write.Target).UnpaddedBytes)
                : write.Key;
        }

        private void Publish(int index)
        {
            TransactionWrite write = _plan.Writes[index];
            PartitionBlock* partition = PartitionOf(write);
            KeyRef key = KeyOf(index);
            bool isFound = TryFind(index, out Located old);
            if (IsPut(write))
            {
                WriteOperation.Begin(out WriteOperation operation, key, WriteCondition.Always, expectedVersion: 0);
                operation.Partition = partition;
                operation.IsFound = isFound;
                operation.Old = old;
                operation.Bytes = write.Bytes;
                operation.Target = write.Target;
                operation.Version = write.Version;
                _engine.TryStoreSlot(
                    operation, isCompared: false, isFound ? old.Bucket : write.Bucket, isFound ? old.SlotIndex : write.SlotIndex, isChange: true);
                return;
            }

            if (isFound)
            {
                _engine._evictor.TryDrop(partition, old);
                partition->Removals++;
            }

            Invalidation.InvalidationRing.Post(Memory, partition, key.Place.Hash);
        }
    }
}
