namespace Cairn.Offline;

/// <summary>The findings of a verification. All are counted, and the first ones up to the limit are listed.</summary>
internal sealed class FindingList(int limit)
{
    private readonly List<VerifyFinding> _listed = [];
    private readonly long[] _counts = new long[(int)VerifySeverity.Damage + 1];

    public IReadOnlyList<VerifyFinding> Listed => [.. _listed.OrderBy(finding => finding.Area)];

    public long Count(VerifySeverity severity) => _counts[(int)severity];

    public void Damage(VerifyArea area, long offset, string text) => Add(VerifySeverity.Damage, area, offset, text);

    public void Leftover(VerifyArea area, long offset, string text) => Add(VerifySeverity.Leftover, area, offset, text);

    public void Note(VerifyArea area, long offset, string text) => Add(VerifySeverity.Note, area, offset, text);

    public void Add(VerifySeverity severity, VerifyArea area, long offset, string text)
    {
        _counts[(int)severity]++;
        if (_listed.Count < limit)
        {
            _listed.Add(new VerifyFinding(severity, area, offset, text));
        }
        else if (severity == VerifySeverity.Damage && _listed.FindLastIndex(finding => finding.Severity < severity) is >= 0 and var lesser)
        {
            // Damage is more important than a listed finding of lower severity, so it replaces one.
            _listed.RemoveAt(lesser);
            _listed.Add(new VerifyFinding(severity, area, offset, text));
        }
    }
}
