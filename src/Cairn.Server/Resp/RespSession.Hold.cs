using Cairn.Concurrency;

namespace Cairn.Server.Resp;

// A command on several keys that must be atomic holds the partitions of its keys. Within EXEC, they are held already.
internal sealed partial class RespSession
{
    private PartitionHold? _hold;
    private int _holdDepth;

    /// <summary>Blocks other writers of the keys among the arguments until <see cref="EndHold"/>.</summary>
    /// <returns>False, with no partition held, if a partition lock was not available in time.</returns>
    public bool TryHoldKeys(scoped in RespArguments arguments, int first, int last, int step)
    {
        if (_holdDepth > 0)
        {
            _holdDepth++;
            return true;
        }

        PartitionHold hold = _hold ??= new PartitionHold(Server.Store.PartitionCount);
        hold.Clear();
        for (int i = first; i <= last; i += step)
        {
            hold.Add(Keys.PartitionOf(arguments[i]));
        }

        _holdDepth = Keys.Engine.TryHold(hold) ? 1 : 0;
        return _holdDepth == 1;
    }

    /// <summary>
    /// Makes the pages of many keys ready for a write, in turns of bounded length. In a new store this takes longer than the write, which
    /// cannot pause. Few keys need no preparation, and those of a transaction have had theirs.
    /// </summary>
    /// <returns>False if the command must return now, and continues here.</returns>
    public bool TryTouchKeys(scoped in RespArguments arguments, int first, int last, int step, ref RespWriter writer)
    {
        if (_isExecutingQueue || last - first < ElementsPerTurn)
        {
            return true;
        }

        for (int i = BeginAt(first); i <= last; i += step)
        {
            if (MustPause(i, ref writer))
            {
                return false;
            }

            Keys.Engine.TouchBucket(Keys.PlaceOf(arguments[i]));
        }

        return true;
    }

    /// <summary>Lets other writers continue.</summary>
    public void EndHold()
    {
        if (--_holdDepth == 0)
        {
            Keys.Engine.EndHold(_hold!);
        }
    }
}
