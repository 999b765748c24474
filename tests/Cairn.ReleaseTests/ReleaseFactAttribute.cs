namespace Cairn.ReleaseTests;

/// <summary>A fact about what release/build makes in minutes, such as the tool with its own runtime; only with CAIRN_RELEASE=1.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class ReleaseFactAttribute : FactAttribute
{
    public const string WhySkipped = "takes minutes: only with CAIRN_RELEASE=1";

    public ReleaseFactAttribute()
    {
        if (!Release.IsComplete)
        {
            Skip = WhySkipped;
        }
    }
}
