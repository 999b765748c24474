namespace Cairn.ReleaseTests;

/// <summary>What <see cref="ReleaseFactAttribute"/> is, for a theory.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class ReleaseTheoryAttribute : TheoryAttribute
{
    public ReleaseTheoryAttribute()
    {
        if (!Release.IsComplete)
        {
            Skip = ReleaseFactAttribute.WhySkipped;
        }
    }
}
