using Cairn.FileStore.Sharing;

namespace Cairn.FileStore.Engine;

// What no record tells of: hand edits, replaced files, a side file that was removed, and, where nothing is mapped, all changes.
internal sealed partial class FileEngine
{
    /// <summary>Looks at the file, without reading it, and has the next read bring the table up to date if need be.</summary>
    public void Look()
    {
        if (!_gate.TryEnter())
        {
            return; // Somebody is reading or writing it; the next look will do.
        }

        try
        {
            if (!_isClosed)
            {
                LookAtFiles();
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            _isBehind = true; // Not to be had now; what was last read is served.
        }
        finally
        {
            _gate.Exit();
        }
    }

    private void LookAtFiles()
    {
        View view = _view;
        if (view.Channel.IsShared ? !view.Channel.IsCurrent : !_isMappingRefused)
        {
            ReopenChannel();
            view = _view;
        }

        FileStamp stamp = FileStamp.Of(_path);
        if (_isBehind || (stamp != _seen && IsOutsideChange(stamp)))
        {
            _mustLook = true;
            view.Invalidate();
        }

        _lastLook = stamp;
        if (_tokens.HasAny && !view.IsCurrent)
        {
            BringUpToDate();
        }
    }

    // While a writer is at work the file differs from its record for microseconds; an outside change is still there next time.
    private bool IsOutsideChange(in FileStamp stamp) =>
        !_view.Channel.IsShared || (!_view.Channel.Read(out _).Matches(stamp) && stamp == _lastLook);
}
