using Cairn.FileStore.Sharing;

namespace Cairn.FileStore.Engine;

// Finds the changes without a record: manual edits, replaced files, a removed side file and, without a mapped side file, all changes.
internal sealed partial class FileEngine
{
    /// <summary>
    /// Checks the state of the file without reading its content. If it has changed, the next read brings the table up to date.
    /// </summary>
    public void Look()
    {
        if (!_gate.TryEnter())
        {
            return; // Another thread is reading or writing the file; the next check suffices.
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
            _isBehind = true; // The file is not accessible now. Reads return the last content.
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

    // While a writer is at work, the file differs from its record for microseconds. An outside change still differs at the next check.
    private bool IsOutsideChange(in FileStamp stamp) =>
        !_view.Channel.IsShared || (!_view.Channel.Read(out _).Matches(stamp) && stamp == _lastLook);
}
