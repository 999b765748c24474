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

    /// <summary>Lets other writers continue.</summary>
    public void EndHold()
    {
        if (--_holdDepth == 0)
        {
            Keys.Engine.EndHold(_hold!);
        }
    }
}
